import type { GaugeWrite } from "../../model/decision.ts";
import type { AutoscalerUid, Namespace, PartitionRef } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../model/records.ts";
import type { SummaryRow } from "../../model/summary.ts";
import { askDialect } from "../../policy/dialects.ts";
import type { Head } from "../../store/head/head.ts";
import { autoscalersOf } from "../../store/records/clusters.ts";
import { statedIn } from "../../store/summary/head-summary.ts";
import { summaryKeyOf } from "../../store/summary/summary-codec.ts";
import type { Tables } from "../../store/table/tables.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import { STALE_PERIODS } from "../../plan/timing.ts";
import { JOURNAL_EVERY_MS } from "../../sync/keep/write-journal.ts";
import { snapshotReader } from "../autoscalers.ts";
import { type QueryContext, sees } from "../context.ts";
import { newestEvaluations } from "../partitions/partition-data.ts";
import type { KnownPartition } from "../rows/known-partitions.ts";
import { rowOf } from "../rows/known-row.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import { autoscalerView } from "../views/autoscaler-view.ts";
import { pauseView } from "../views/pause-view.ts";
import { rowOfView } from "../views/row-view.ts";
import type { Measured } from "./autoscaler-series.ts";

/** A synced partition whose series are wanted. */
export interface MeasuredPart {
  readonly cluster: ClusterRecord;
  readonly fleet: FleetRecord;
  /** Where only one namespace is wanted. */
  readonly inside: Namespace | undefined;
  readonly ref: PartitionRef;
  readonly head: Head;
  /** What its summary says; `undefined` where its autoscalers must be read one by one. */
  readonly known: KnownPartition | undefined;
}

/** Autoscalers of one journal page share its request. */
const AUTOSCALERS_AT_ONCE = 16;

/** What a summary says of the autoscalers of its partition. */
export const measuredInSummary = async (context: QueryContext, part: MeasuredPart, known: KnownPartition): Promise<readonly Measured[]> => {
  const { cluster, fleet, inside, ref } = part;
  const nowMs = context.clock();
  const isPaused = pauseView(cluster.paused, nowMs) !== undefined;
  const chosen = known.index.rows.flatMap((index) => {
    const uid = index.uid as AutoscalerUid;
    const row = known.rows.get(summaryKeyOf(uid));
    const isWanted = row !== undefined && (inside === undefined || index.namespace === inside) && sees(context, cluster.name, index.namespace);
    return isWanted ? [{ index, uid, row, measuredMs: known.measuredMs(row.key) }] : [];
  });
  const fresh = chosen.filter(({ measuredMs }) => isFresh(cluster, { syncedMs: known.syncedMs, measuredMs, nowMs }));
  const banded = fresh.filter(({ row }) => row.hasBands).map(({ uid, index: { createdMs } }) => ({ uid, createdMs }));
  const gauges = banded.length > 0 ? await gaugesOf(context, part, banded) : new Map<AutoscalerUid, readonly GaugeWrite[]>();
  return fresh.map(({ index, uid, row, measuredMs }) => ({
    cluster: cluster.name,
    row: rowOf(index, row, { partition: ref.partition, isPaused, measuredMs, fleet, nowMs }),
    isSwitchedOff: row.switchedOff === true,
    ...(row.hasBands && { bands: { gauges: gauges.get(uid) ?? [], ...replicasOf(row.totals) } }),
  }));
};

const replicasOf = ({ added, removed }: Pick<NonNullable<SummaryRow["totals"]>, "added" | "removed"> = { added: 0, removed: 0 }) => ({
  added,
  removed,
});

/** The same from the autoscalers themselves, their pages and their journal. */
export const measuredOneByOne = async (context: QueryContext, { cluster, fleet, inside, ref }: MeasuredPart): Promise<readonly Measured[]> => {
  const nowMs = context.clock();
  const records: AutoscalerRecord[] = [];
  for await (const item of autoscalersOf(context.tables, cluster, ref)) {
    if (item.kind !== "read" || !sees(context, cluster.name, item.record.namespace)) continue;
    if (inside === undefined || item.record.namespace === inside) records.push(item.record);
  }
  const read = snapshotReader(context, cluster, fleet, { windows: "where needed" });
  const snapshots = await mapWithLimit(records, AUTOSCALERS_AT_ONCE, (record) => read(record));
  return snapshots.flatMap((known) => {
    const { evaluated, syncedMs } = known;
    return evaluated && syncedMs !== undefined && isFresh(cluster, { syncedMs, measuredMs: evaluated.atMs, nowMs }) ? [measuredIn(known)] : [];
  });
};

const measuredIn = (known: AutoscalerSnapshot): Measured => {
  const view = autoscalerView(known);
  const { gauges, totals } = known.evaluated?.evaluation ?? {};
  const hasBands = gauges !== undefined || (known.spec.kind === "spec" && askDialect(known.spec.spec, ({ explains }) => explains.publishesBands));
  return {
    cluster: view.cluster,
    row: rowOfView(view),
    isSwitchedOff: view.conditions.some(({ type, status }) => type === "ScalingActive" && status === "False"),
    ...(hasBands && { bands: { gauges: gauges ?? [], ...replicasOf(totals) } }),
  };
};

/** Prometheus treats an absent series as ended, and a present one as true now. So stale values are left out. What has not changed is measured only once a minute. */
const isFresh = (
  { syncPeriodMs }: ClusterRecord,
  { syncedMs, measuredMs, nowMs }: { readonly syncedMs: number; readonly measuredMs: number; readonly nowMs: number },
): boolean => {
  const staleMs = STALE_PERIODS * syncPeriodMs;
  return nowMs - syncedMs <= staleMs && nowMs - measuredMs <= JOURNAL_EVERY_MS + staleMs;
};

/** Gauges that an environment has read of a partition, and the version for readers that they are of. */
interface Remembered {
  readonly version: string;
  readonly gauges: ReadonlyMap<AutoscalerUid, readonly GaugeWrite[]>;
}
const remembered = new WeakMap<Tables["client"], Map<string, Remembered>>();
/** Autoscalers whose gauges an environment keeps, some 5 KB each. With more it begins anew. */
const KEPT_MAX = 20_000;

/** Journal items that a request reads ahead: a minute has four at a period of 15 s. */
const JOURNAL_AHEAD = 5;

/** The gauges of the newest evaluations. The journal is read again once a minute, and where a reader of the partition would see a change. */
const gaugesOf = async (
  context: QueryContext,
  { ref, head }: MeasuredPart,
  wanted: readonly Pick<AutoscalerRecord, "uid" | "createdMs">[],
): Promise<ReadonlyMap<AutoscalerUid, readonly GaugeWrite[]>> => {
  const { tables } = context;
  const path = `${ref.cluster}/${ref.partition}`;
  const memory = remembered.get(tables.client) ?? new Map<string, Remembered>();
  remembered.set(tables.client, memory);
  const stated = statedIn(head);
  const version = [stated?.baseEpoch, stated?.changedEpoch, stated?.specVersion, head.pageGeneration].join();
  const known = memory.get(path);
  if (known?.version === version && wanted.every(({ uid }) => known.gauges.has(uid))) return known.gauges;
  const newest = newestEvaluations(context, ref, head, JOURNAL_AHEAD);
  const read = await mapWithLimit(wanted, AUTOSCALERS_AT_ONCE, async (one) => {
    const evaluated = await newest(one, context.clock());
    return [one.uid, evaluated?.evaluation.gauges ?? []] as const;
  });
  const gauges = new Map(read);
  memory.delete(path);
  if ([...memory.values()].reduce((sum, one) => sum + one.gauges.size, gauges.size) > KEPT_MAX) memory.clear();
  memory.set(path, { version, gauges });
  return gauges;
};
