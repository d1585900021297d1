import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../model/records.ts";
import type { MetricFamily, Sample } from "../../report/open-metrics.ts";
import { listAutoscalers } from "../../store/records/autoscalers.ts";
import { getFleet, listClusters } from "../../store/records/clusters.ts";
import { eachDone } from "../../store/table/all-done.ts";
import { STALE_PERIODS } from "../../sync/timing.ts";
import { JOURNAL_EVERY_MS } from "../../sync/write-journal.ts";
import { snapshotReader } from "../autoscalers.ts";
import { type QueryContext, sees, touches } from "../context.ts";
import { findCluster, optionalNamespace } from "../find-autoscaler.ts";
import type { SeriesQuery } from "../service.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import { type LabelledSample, seriesOf } from "./autoscaler-series.ts";

const CLUSTERS_AT_ONCE = 16;
/** Autoscalers of one journal page share its request. */
const AUTOSCALERS_AT_ONCE = 16;

/**
 * Reads the series of every autoscaler from the newest journal, which also has the totals of each: no scrape reads history. A cluster or autoscaler that cannot be read is left out,
 * and the others remain.
 */
export const series = async (context: QueryContext, { labels = [], ...filter }: SeriesQuery = {}): Promise<readonly MetricFamily[]> => {
  // One instant for the whole answer, earlier than all reads.
  const nowMs = context.clock();
  const still: QueryContext = { ...context, clock: () => nowMs };
  const fleet = await getFleet(context.tables);
  const clusters = filter.cluster === undefined ? await readableClusters(context) : [await findCluster(context, filter.cluster)];
  const known = await eachDone(clusters, CLUSTERS_AT_ONCE, (cluster) => freshOf(still, cluster, fleet, filter.namespace));
  return familiesOf(known.flat().flatMap((one) => seriesOf(one, labels)));
};

const readableClusters = async (context: QueryContext): Promise<readonly ClusterRecord[]> => {
  const records: ClusterRecord[] = [];
  for await (const item of listClusters(context.tables)) if (item.kind === "read" && touches(context, item.record.name)) records.push(item.record);
  return records;
};

const freshOf = async (
  context: QueryContext,
  cluster: ClusterRecord,
  fleet: FleetRecord,
  inside: string | undefined,
): Promise<readonly AutoscalerSnapshot[]> => {
  const records: AutoscalerRecord[] = [];
  for await (const item of listAutoscalers(context.tables, cluster.name, optionalNamespace(inside)))
    if (item.kind === "read" && sees(context, cluster.name, item.record.namespace)) records.push(item.record);
  const read = snapshotReader(context, cluster, fleet, { windows: "where needed" });
  return (await eachDone(records, AUTOSCALERS_AT_ONCE, (record) => read(record))).filter(isFresh);
};

/** Prometheus treats an absent series as ended, and a present one as true now. So stale values are left out. */
const isFresh = ({ cluster, evaluated, syncedMs, nowMs }: AutoscalerSnapshot): boolean => {
  if (!evaluated || syncedMs === undefined) return false;
  const staleMs = STALE_PERIODS * cluster.syncPeriodMs;
  // An unchanged page is written to the journal only once a minute.
  return nowMs - syncedMs <= staleMs && nowMs - evaluated.atMs <= JOURNAL_EVERY_MS + staleMs;
};

/** Groups samples by family, in order of name. */
const familiesOf = (samples: readonly LabelledSample[]): readonly MetricFamily[] => {
  const families = new Map<string, MetricFamily & { readonly samples: Sample[] }>();
  for (const { name, type, help, labels, value } of samples) {
    const family = families.get(name) ?? { name, type, help, samples: [] };
    family.samples.push({ labels, value });
    families.set(name, family);
  }
  return [...families.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
};
