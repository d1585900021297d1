import { inTurns } from "../../cluster/map-yielding.ts";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import {
  incarnationOf,
  type AutoscalerRecord,
  type ClusterRecord,
} from "../../../rules/model/records.ts";
import { autoscalersOf } from "../../store/records/clusters.ts";
import type { Tables } from "../../store/table/tables.ts";
import type { PurePart, SpecReading } from "../pure-part.ts";
import type { LoadedSpec, LoadedSpecs, KnownSpec } from "../hand-over.ts";

/** Uid of an autoscaler; absent where its item cannot be read that far. */
export const uidOf = (spec: LoadedSpec): AutoscalerUid | undefined =>
  spec.kind === "unreadable" ? spec.uid : spec.record.uid;

/**
 * Autoscalers that are read and converted in one turn of the event loop, less than half a
 * millisecond each. One answer of the table has hundreds.
 */
const SPECS_A_TURN = 20;

/**
 * Reads every autoscaler of a partition strongly and converts it. A manifest that did not change
 * keeps the spec that was converted before.
 */
export const readSpecs = async (
  ports: { readonly tables: Tables; readonly rules: PurePart },
  cluster: ClusterRecord,
  partition: PartitionRef,
  wanted: {
    readonly specVersion: number;
    readonly readMs: number;
    readonly before: LoadedSpecs | undefined;
  },
): Promise<LoadedSpecs> => {
  const known = new Map(
    (wanted.before?.all ?? []).flatMap((spec) =>
      spec.kind === "unreadable" ? [] : [[spec.record.uid, spec] as const],
    ),
  );
  const all: LoadedSpec[] = [];
  for await (const item of inTurns(autoscalersOf(ports.tables, cluster, partition), SPECS_A_TURN)) {
    if (item.kind === "unreadable") {
      all.push(item);
      continue;
    }
    const same = known.get(item.record.uid);
    all.push(
      same?.record.manifest === item.record.manifest
        ? { ...same, record: item.record }
        : converted(ports.rules, item.record),
    );
  }
  return {
    specVersion: wanted.specVersion,
    clusterIncarnation: incarnationOf(cluster),
    readMs: wanted.readMs,
    all,
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
