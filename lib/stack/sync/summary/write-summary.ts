import { mapYielding } from "../../cluster/map-yielding.ts";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { isExpired } from "../../../rules/model/override.ts";
import { present } from "../../../rules/model/json.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import {
  problemCounts,
  type SummaryBase,
  type SummaryRow,
  type TokenLife,
} from "../../../rules/model/summary.ts";
import { type Attempt, attempted, opens } from "../../projections/project.ts";
import { troubleOf } from "../../report/partition-trouble.ts";
import {
  decodeHeadSummary,
  encodeHeadSummary,
  type HeadSummary,
  encodeIndex,
  putIndex,
  putSummary,
  readSummary,
} from "../../store/summary/summary-items.ts";
import {
  DERIVED_BYTES_MAX,
  decodeSummary,
  encodeSummary,
  summaryKeyOf,
} from "../../store/summary/summary-codec.ts";
import type { FindingsOf } from "../keep/newest-findings.ts";
import { briefEvaluation } from "../decide/evaluation.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { hasSameIndex } from "./same-index.ts";
import { indexRowOf } from "../../projections/index-rows.ts";
import { metricReadings } from "../../projections/metric-readings.ts";
import {
  type BareRow,
  bareRowOf,
  endedScales,
  isSameRow,
  type RowSource,
  shownIn,
  withFindings,
  withTargets,
} from "../../projections/rows.ts";
import type { Verdict, Loaded, Settled, StoredPages, After, WrittenSummary } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";

/** The summary is written whole as often as the journal. */
const WHOLE_EVERY_MS = 60_000;

/*
 *  minute   ├─ whole summary ──────────────────────────────┤├─ whole summary
 *  syncs    │   head: none    head: web    head: web, api   ││  head: none
 *
 * What changes within a minute goes into the head, which every release writes anyway.
 */

type Context = {
  readonly loaded: Loaded;
  readonly verdicts: readonly Verdict[];
  readonly settled: Settled;
  readonly stored: StoredPages;
  readonly after: After;
  readonly failures: RuleFailures;
  readonly findingsOf: FindingsOf | undefined;
  /** Absent where the sync had no client. */
  readonly client: Pick<ClusterClient, "tokenLife"> | undefined;
};

/**
 * Writes what readers of many autoscalers need: the summary of the partition once a minute, what
 * changed since into the head, and the index of names after edits. Nothing rests on it, so a
 * failure is reported and ends nothing: readers then see an earlier summary, or read pages and
 * journal as before the first one.
 */
export const writeSummary = async (
  unbounded: SyncPorts,
  partition: PartitionRef,
  context: Context,
): Promise<WrittenSummary> => {
  const ports = patient(unbounded);
  const { loaded, stored } = context;
  const { nowMs, head } = loaded;
  const stated = decodeHeadSummary(head.summary);
  const base = await attempted(() => baseOf(ports, partition, stated));
  const found = await rowsOf(context, rowsAfter(base.done, stated));
  const index = await attempted(() => writeIndex(ports, partition, loaded, stated?.index));
  const changed = found.flatMap(({ row, source }) =>
    isSameRow(row, base.done?.rows.get(row.key))
      ? []
      : [withTargets(row, readingsOf(source, context.failures))],
  );
  const summary: HeadSummary = {
    atMs: nowMs,
    baseEpoch: base.done?.epoch ?? 0,
    baseMs: stated?.baseMs ?? 0,
    changedEpoch: head.epoch,
    index: index.done ?? stated?.index ?? NO_INDEX,
    autoscalers: loaded.specs.all.length,
    paused: loaded.specs.all.filter((spec) => spec.kind !== "unreadable" && spec.record.paused)
      .length,
    overridden: loaded.specs.all.filter(
      (spec) => spec.kind !== "unreadable" && isOverridden(spec.record, nowMs),
    ).length,
    specVersion: loaded.specs.specVersion,
    tookMs: Math.max(0, ports.tables.clock() - nowMs),
    ...present({ token: tokenOf(context, stated) }),
    problems: problemCounts(
      found.map(({ row }) => row),
      nowMs,
    ),
    trouble: troubleOf(found.map(({ source }) => source.evaluation)),
    rows: changed,
  };
  const since = encodeHeadSummary({
    ...summary,
    changedEpoch: isUnchanged(stated, summary) ? (stated?.changedEpoch ?? 0) : head.epoch,
  });
  const fits = since.length <= roomIn(loaded, stored, base.done);
  const indexHash = summary.index.hash;
  if (base.done && fits && !opens(WHOLE_EVERY_MS, nowMs, summary.baseMs))
    return { body: since, base: { ...base.done, indexHash }, ...failureOf(base, index) };
  const { findingsOf } = context;
  const rows = await mapYielding(found, ({ row, source, verdict }) =>
    withTargets(
      findingsOf ? withFindings(row, findingsOf(verdict).length) : row,
      readingsOf(source, context.failures),
    ),
  );
  const body = encodeSummary(rows, nowMs);
  const written = await attempted(
    async () => body && putSummary(ports.tables, partition, { epoch: head.epoch, body }),
  );
  if (written.done) {
    const whole = encodeHeadSummary({ ...summary, baseEpoch: head.epoch, baseMs: nowMs, rows: [] });
    return {
      body: whole,
      base: { epoch: head.epoch, rows: byKey(rows), indexHash },
      ...failureOf(base, index),
    };
  }
  // The summary gets what has room, and the next sync writes all of it.
  const told = fits ? since : encodeHeadSummary({ ...summary, rows: [] });
  return {
    body: told,
    base: { ...(base.done ?? NO_BASE), indexHash },
    ...failureOf(base, index, written),
  };
};

/** A sync that could not connect knows no token, and an ended one is what a person must see. */
const tokenOf = (
  { client, loaded }: Context,
  stated: HeadSummary | undefined,
): TokenLife | undefined => {
  if (client) return client.tokenLife?.();
  return loaded.specs.all.length > 0 ? stated?.token : undefined;
};

const NO_INDEX: HeadSummary["index"] = { epoch: 0, hash: "" };
const NO_BASE = { epoch: 0, rows: new Map<string, SummaryRow>() };

/** The release does not wait longer for what nothing rests on. */
const PATIENCE_MS = 1_000;

const patient = (ports: SyncPorts): SyncPorts => {
  const untilMs = ports.tables.clock() + PATIENCE_MS;
  return {
    ...ports,
    tables: { ...ports.tables, untilMs: Math.min(untilMs, ports.tables.untilMs ?? untilMs) },
  };
};

const failureOf = (...attempts: readonly Attempt<unknown>[]): Pick<WrittenSummary, "failure"> => {
  const failures = attempts.flatMap(({ failure }) => failure ?? []);
  return failures.length > 0 ? { failure: failures.join("; ") } : {};
};

/**
 * Writes the index where it differs from the one that the head names. `undefined`: that one still
 * holds, or another holder has claimed.
 */
const writeIndex = async (
  ports: SyncPorts,
  partition: PartitionRef,
  { specs, head }: Loaded,
  stated: HeadSummary["index"] | undefined,
): Promise<HeadSummary["index"] | undefined> => {
  const remembered = ports.cache.get(partition);
  if (
    remembered &&
    stated !== undefined &&
    remembered.summary?.indexHash === stated.hash &&
    hasSameIndex(remembered.specs, specs)
  )
    return undefined;
  const rows = await mapYielding(specs.all, indexRowOf);
  const { specVersion, clusterIncarnation } = specs;
  const { body, hash } = encodeIndex({ specVersion, clusterIncarnation, rows });
  if (hash === stated?.hash) return undefined;
  if (body.length > DERIVED_BYTES_MAX) return NO_INDEX;
  return (await putIndex(ports.tables, partition, { epoch: head.epoch, body }))
    ? { epoch: head.epoch, hash }
    : undefined;
};

const byKey = (rows: readonly SummaryRow[]): ReadonlyMap<string, SummaryRow> =>
  new Map(rows.map((row) => [row.key, row]));

/**
 * The newest summary item: the one that this environment wrote or read last, or as it is stored.
 */
const baseOf = async (
  ports: SyncPorts,
  partition: PartitionRef,
  stated: HeadSummary | undefined,
): Promise<SummaryBase | undefined> => {
  if (!stated || stated.baseEpoch === 0) return undefined;
  const remembered = ports.cache.get(partition)?.summary;
  if (remembered?.epoch === stated.baseEpoch) return remembered;
  const item = await readSummary(ports.tables, partition);
  const decoded = item && decodeSummary(item.body);
  return item && decoded && { epoch: item.epoch, rows: byKey(decoded.rows), indexHash: "" };
};

/** Each autoscaler as the sync before left it. */
const rowsAfter = (
  base: SummaryBase | undefined,
  stated: HeadSummary | undefined,
): ((key: string) => SummaryRow | undefined) => {
  const changed = byKey(stated?.rows ?? []);
  return (key) => changed.get(key) ?? base?.rows.get(key);
};

type FoundSource = RowSource & { readonly evaluation: Evaluation };

interface FoundRow {
  readonly row: BareRow;
  readonly source: FoundSource;
  readonly verdict: Verdict;
}

const readingsOf = (
  { uid, spec, evaluation }: FoundSource,
  failures: RuleFailures,
): ReturnType<typeof metricReadings> =>
  failures.guarded(
    uid,
    () => metricReadings(spec, evaluation),
    () => metricReadings(undefined, evaluation),
  );

const rowsOf = async (
  { loaded, verdicts, settled, after }: Context,
  before: (key: string) => SummaryRow | undefined,
): Promise<readonly FoundRow[]> => {
  const ended = endedScales([
    ...settled.late.map(({ scale }) => scale),
    ...settled.own.map(({ event }) => event),
  ]);
  const rows = await mapYielding(verdicts, (verdict): FoundRow | undefined => {
    const { autoscaler } = verdict;
    const evaluation = briefEvaluation(verdict, after);
    if (autoscaler.kind === "unreadable" || !evaluation) return undefined;
    const { uid } = evaluation;
    const source: FoundSource = {
      uid,
      spec: autoscaler.kind === "ready" ? autoscaler.spec : undefined,
      ...(autoscaler.kind === "invalid" && autoscaler.unread && { isUnread: true }),
      evaluation,
      before: before(summaryKeyOf(uid)),
      ...present({ ended: ended.get(uid) }),
      nowMs: loaded.nowMs,
    };
    return { row: bareRowOf(source), source, verdict };
  });
  return rows.filter((row) => row !== undefined);
};

const isOverridden = ({ overrides = [] }: AutoscalerRecord, nowMs: number): boolean =>
  overrides.some((override) => !isExpired(override, nowMs));

/** True where a reader sees the same as after the sync before. */
const isUnchanged = (stated: HeadSummary | undefined, found: HeadSummary): boolean =>
  stated !== undefined && seenIn(stated) === seenIn(found);

const seenIn = ({
  baseEpoch,
  index,
  autoscalers,
  paused,
  overridden,
  problems,
  trouble,
  rows,
}: HeadSummary): string =>
  JSON.stringify([
    baseEpoch,
    index,
    autoscalers,
    paused,
    overridden,
    Object.keys(problems),
    trouble.state,
    trouble.error,
    trouble.holds.length,
    rows.map(shownIn),
  ]);

/**
 * What an update of the head costs by is its size in KB. A large partition may use more of it than
 * is left of the first: an eighth of what the whole summary takes.
 */
const HEAD_BYTES_FREE = 1_000;
const HEAD_BYTES = 400;
const PAGE_NUMBER_BYTES = 5;
const INTENT_BYTES = 300;
const ROW_BYTES = 28;
const SHARE = 8;

const roomIn = (
  { head, specs }: Loaded,
  { pages }: StoredPages,
  base: SummaryBase | undefined,
): number => {
  const taken = HEAD_BYTES + PAGE_NUMBER_BYTES * pages.length + INTENT_BYTES * head.intents.length;
  return Math.max(
    HEAD_BYTES_FREE - taken,
    ((base?.rows.size ?? specs.all.length) * ROW_BYTES) / SHARE,
  );
};
