import { setImmediate } from "node:timers/promises";
import { inTurns } from "../../cluster/map-yielding.ts";
import { asObject, asText, jsonIn } from "../../../rules/model/json.ts";
import { byPlace, inFairTurns, roundOf } from "../../turns/turns.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import {
  incarnationOf,
  type AutoscalerRecord,
  type ClusterRecord,
} from "../../../rules/model/records.ts";
import type { AutoscalerItem } from "../../store/records/autoscalers.ts";
import { autoscalersOf } from "../../store/records/clusters.ts";
import type { PurePart, SpecReading } from "../pure-part.ts";
import type { LoadedSpec, InvalidSpec, LoadedSpecs, KnownSpec } from "../hand-over.ts";

/** Uid of an autoscaler; absent where its item cannot be read that far. */
export const uidOf = (spec: LoadedSpec): AutoscalerUid | undefined =>
  spec.kind === "unreadable" ? spec.uid : spec.record.uid;

/**
 * Autoscalers that are read and converted in one turn of the event loop, less than half a
 * millisecond each. One answer of the table has hundreds.
 */
const SPECS_A_TURN = 20;

/**
 * Share of the soft deadline in which manifests are converted that this environment meets for the
 * first time. An environment at rest converts none.
 */
const CONVERT_SHARE = 0.2;

/** So many are converted in each sync, however slow the machine is. */
const CONVERTED_LEAST = 20;

interface Wanted {
  readonly specVersion: number;
  readonly readMs: number;
  /** What this environment has converted before. */
  readonly before: LoadedSpecs | undefined;
}

/**
 * Reads every autoscaler of a partition strongly and converts it. A manifest that did not change
 * keeps the spec that was converted before. The others are converted in turns of their namespaces,
 * while there is time; what is left holds, and the next sync converts it. The place of a turn
 * follows from the due time, so that an environment that ends in its first sync leaves no
 * autoscaler unread for ever.
 */
export const readSpecs = async (
  ports: Pick<SyncPorts, "tables" | "rules" | "timing">,
  cluster: ClusterRecord,
  message: SyncMessage,
  wanted: Wanted,
): Promise<LoadedSpecs> => {
  const known = new Map(
    (wanted.before?.all ?? []).flatMap((spec) =>
      spec.kind === "unreadable" || waitsToBeRead(spec) ? [] : [[spec.record.uid, spec] as const],
    ),
  );
  const items: AutoscalerItem[] = [];
  for await (const item of inTurns(autoscalersOf(ports.tables, cluster, message), SPECS_A_TURN))
    items.push(item);
  const anew = items.flatMap((item) =>
    item.kind === "read" && known.get(item.record.uid)?.record.manifest !== item.record.manifest
      ? [item.record]
      : [],
  );
  const converted = await convertedInTurns(ports, message, anew);
  const all = items.map((item): LoadedSpec => {
    if (item.kind === "unreadable") return item;
    const { record } = item;
    const same = known.get(record.uid);
    if (same?.record.manifest === record.manifest) return { ...same, record };
    return converted.get(record.uid) ?? unreadSpec(record);
  });
  return {
    specVersion: wanted.specVersion,
    clusterIncarnation: incarnationOf(cluster),
    readMs: wanted.readMs,
    all,
  };
};

/** True where a sync had no time to read the manifest. */
export const waitsToBeRead = (spec: LoadedSpec): boolean =>
  spec.kind === "invalid" && spec.unread !== undefined;

const convertedInTurns = async (
  { tables, rules, timing }: Pick<SyncPorts, "tables" | "rules" | "timing">,
  message: SyncMessage,
  records: readonly AutoscalerRecord[],
): Promise<ReadonlyMap<AutoscalerUid, KnownSpec>> => {
  const specs = new Map<AutoscalerUid, KnownSpec>();
  const round = roundOf(message);
  const ordered = inFairTurns(
    byPlace(records, ({ uid }) => uid, round),
    {
      flowOf: ({ namespace }) => namespace,
      costOf: ({ manifest }) => manifest.length,
      round,
      by: "end",
    },
  );
  const untilMs =
    tables.clock() + CONVERT_SHARE * Math.min(message.periodMs, timing.softDeadlineMs);
  for (const [at, record] of ordered.entries()) {
    if (at >= CONVERTED_LEAST && tables.clock() >= untilMs) break;
    if (at > 0 && at % SPECS_A_TURN === 0) await setImmediate();
    specs.set(record.uid, converted(rules, record));
  }
  return specs;
};

/** An autoscaler of which only the workload was read, which takes no time. */
const unreadSpec = (record: AutoscalerRecord): InvalidSpec => {
  const { spec } = asObject(jsonIn(record.manifest));
  const { kind, name } = asObject(asObject(spec)["scaleTargetRef"]);
  return {
    kind: "invalid",
    record,
    message: "the manifest was not read in this sync",
    unread: { target: `${asText(kind)}/${asText(name)}` },
  };
};

/** The spec of a record, or why it has none. */
export const converted = (rules: PurePart, record: AutoscalerRecord): KnownSpec => {
  const reading = specOf(rules, record.manifest);
  if ("error" in reading)
    return { kind: "invalid", record, message: reading.error.message, error: reading.error };
  return reading.kind === "spec"
    ? { kind: "ready", record, spec: reading.spec }
    : { kind: "invalid", record, message: reading.message };
};

/** A conversion that throws stops its own autoscaler (rule-failures.ts). */
const specOf = (rules: PurePart, manifest: string): SpecReading | { readonly error: Error } => {
  try {
    return rules.specOf(manifest);
  } catch (thrown) {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
};
