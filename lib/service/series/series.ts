import type { ClusterRecord, FleetRecord } from "../../model/records.ts";
import type { MetricFamily, Sample } from "../../report/open-metrics.ts";
import { getFleet, listClusters, partitionOf } from "../../store/records/clusters.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import { type QueryContext, sees, touches } from "../context.ts";
import { findCluster, optionalNamespace } from "../find-autoscaler.ts";
import { knownPartitions } from "../rows/known-partitions.ts";
import type { SeriesQuery } from "../service.ts";
import { headsOf } from "../views/cluster-of.ts";
import { type LabelledSample, seriesOf } from "./autoscaler-series.ts";
import { type MeasuredPart, measuredInSummary, measuredOneByOne } from "./measured.ts";

const PARTITIONS_AT_ONCE = 16;

/**
 * Reads the series of every autoscaler from the summaries of the partitions, whose counters are totals: no scrape reads scale events. Only the values of watermark rules are read from the newest
 * journal, once for each change. A cluster or autoscaler that cannot be read is left out, and the others remain.
 */
export const series = async (context: QueryContext, { labels = [], ...filter }: SeriesQuery = {}): Promise<readonly MetricFamily[]> => {
  // One instant for the whole answer, earlier than all reads.
  const nowMs = context.clock();
  const still: QueryContext = { ...context, clock: () => nowMs };
  const [fleet, clusters] = await Promise.all([
    getFleet(context.tables),
    filter.cluster === undefined ? readableClusters(context) : findCluster(context, filter.cluster).then((cluster) => [cluster]),
  ]);
  const parts = await partsOf(still, clusters, { fleet, inside: filter.namespace });
  const measured = await mapWithLimit(parts, PARTITIONS_AT_ONCE, (part) =>
    part.known ? measuredInSummary(still, part, part.known) : measuredOneByOne(still, part),
  );
  return familiesOf(measured.flat().flatMap((one) => seriesOf(one, labels)));
};

const readableClusters = async (context: QueryContext): Promise<readonly ClusterRecord[]> => {
  const records: ClusterRecord[] = [];
  for await (const item of listClusters(context.tables)) if (item.kind === "read" && touches(context, item.record.name)) records.push(item.record);
  return records;
};

/** The synced partitions, with what their summaries say. A counter must not go back, so that the heads are read strongly. */
const partsOf = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { fleet, inside }: { readonly fleet: FleetRecord; readonly inside: string | undefined },
): Promise<readonly MeasuredPart[]> => {
  const heads = await headsOf(context, clusters);
  const only = optionalNamespace(inside);
  const parts = clusters.flatMap((cluster) =>
    cluster.partitions.flatMap(({ name, namespaces }) => {
      const head = heads.get(`${cluster.name}/${name}`);
      const isMeant =
        (only === undefined || partitionOf(cluster, only) === name) && (!namespaces || namespaces.some((each) => sees(context, cluster.name, each)));
      return head && isMeant ? [{ cluster, fleet, inside: only, ref: { cluster: cluster.name, partition: name }, head }] : [];
    }),
  );
  const known = await knownPartitions(context.tables, parts);
  return parts.map((part, at) => ({ ...part, known: known[at] }));
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
