import type { ClusterName } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../model/records.ts";
import type { MetricFamily, Sample } from "../../report/open-metrics.ts";
import { readHead } from "../../store/head/head.ts";
import { listAutoscalers } from "../../store/records/autoscalers.ts";
import { getFleet, listClusters } from "../../store/records/clusters.ts";
import { STALE_PERIODS } from "../../sync/timing.ts";
import { JOURNAL_EVERY_MS } from "../../sync/write-journal.ts";
import { snapshotReader } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import { isCounted, type LabelledSample, seriesOf } from "./autoscaler-series.ts";
import { type Folded, NO_TOTALS, NOTHING_FOLDED, scaledTotals } from "./scaled-totals.ts";

/**
 * Reads the series of every autoscaler from the newest journal. The history is cached between calls, so a scrape reads only newer events. A
 * cluster or autoscaler that cannot be read is left out, and the others remain.
 */
export const seriesReader = (context: QueryContext): ((labels?: readonly string[]) => Promise<readonly MetricFamily[]>) => {
  let remembered: ReadonlyMap<ClusterName, Folded> = new Map();
  return async (labels = []) => {
    // One instant for the whole answer, earlier than all reads.
    const nowMs = context.clock();
    const still: QueryContext = { ...context, clock: () => nowMs };
    const fleet = await getFleet(context.tables);
    const samples: LabelledSample[] = [];
    const folded = new Map<ClusterName, Folded>();
    for await (const item of listClusters(context.tables)) {
      if (item.kind === "unreadable") continue;
      const ofCluster = await clusterSeries(still, item.record, fleet, remembered.get(item.record.name) ?? NOTHING_FOLDED);
      samples.push(...ofCluster.known.flatMap((known) => seriesOf(known, ofCluster.totals.get(known.record.uid) ?? NO_TOTALS, labels)));
      folded.set(item.record.name, ofCluster.folded);
    }
    remembered = folded;
    return familiesOf(samples);
  };
};

const clusterSeries = async (
  context: QueryContext,
  cluster: ClusterRecord,
  fleet: FleetRecord,
  before: Folded,
): Promise<{ readonly known: readonly AutoscalerSnapshot[]; readonly totals: Folded["totals"]; readonly folded: Folded }> => {
  const { tables } = context;
  const nowMs = context.clock();
  const records: AutoscalerRecord[] = [];
  for await (const item of listAutoscalers(tables, cluster.name)) if (item.kind === "read") records.push(item.record);
  // Heads are read before the history that they bound.
  const heads = await Promise.all(cluster.partitions.map(({ name: partition }) => readHead(tables, { cluster: cluster.name, partition })));
  const oldestMs = records.reduce((oldest, { createdMs }) => Math.min(oldest, createdMs), nowMs);
  const read = snapshotReader(context, cluster, fleet, { windows: "where needed" });
  const fresh: AutoscalerSnapshot[] = [];
  for (const record of records) {
    const known = await read(record);
    if (isFresh(known)) fresh.push(known);
  }
  // Reads no history for clusters without counted scales, because it goes back a year.
  const { totals, folded } = fresh.some(isCounted)
    ? await scaledTotals(tables, cluster.name, before, { heads, oldestMs, nowMs })
    : { totals: NOTHING_FOLDED.totals, folded: before };
  return { known: fresh, totals, folded };
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
