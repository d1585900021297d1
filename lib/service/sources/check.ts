import { type CheckedPoint, type ConnectionReport, reportOf, skipped } from "../../cluster/check/report.ts";
import { TidemarkError } from "../../model/errors.ts";
import { type ClusterName, clusterName } from "../../model/ids.ts";
import { matchesName } from "../../model/access.ts";
import type { MetricSourceRecord } from "../../model/metric-source.ts";
import { connectionFor, getCluster, getConnection, listClusters } from "../../store/records/clusters.ts";
import { getMetricSource } from "../../store/records/metric-sources.ts";
import type { ServiceContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import type { SourceCheck } from "./requests.ts";

/** One question through each cluster takes up to 20 s, and the function lives 30 s. */
const CLUSTERS_MAX = 10;

/** Asks a source from where the syncs ask it. It stores nothing. Throws `service.unknown`, `service.invalid`, `store.unreadable`. */
export const checkSource = async (context: ServiceContext, { name, cluster, ...question }: SourceCheck): Promise<ConnectionReport> => {
  const source = await sourceRecord(context, name);
  const ask = context.checkSource;
  if (!ask) throw invalid(name, "nothing here asks sources; ask the URL that connects clusters");
  const clusters = await clustersFor(context, source, cluster);
  const asked = clusters.slice(0, CLUSTERS_MAX);
  const reports = await Promise.all(
    asked.map(async (of) => {
      const connection = source.service && (await connectionOf(context, of));
      return ask({ source, cluster: { name: of }, ...(connection && { connection }), question });
    }),
  );
  return reportOf(name, [...withoutTwins(reports.flatMap(({ checks }) => checks)), ...unasked(clusters.length - asked.length)]);
};

const sourceRecord = async ({ tables }: ServiceContext, name: string): Promise<MetricSourceRecord> => {
  const item = await getMetricSource(tables, name);
  if (item === undefined) throw new TidemarkError("service.unknown", `Cannot find source "${name}": run tidemark source list`, { name });
  if (item.kind === "read") return item.record;
  throw new TidemarkError("store.unreadable", `Cannot check source "${name}": its record cannot be read; register it again, or delete it`, { name });
};

const invalid = (name: string, why: string): TidemarkError => new TidemarkError("service.invalid", `Cannot check source "${name}": ${why}`, { name });

/** The clusters through which it is asked. A source that is no service of a cluster is asked once. */
const clustersFor = async (context: ServiceContext, source: MetricSourceRecord, wanted: string | undefined): Promise<readonly ClusterName[]> => {
  const mayAsk = (name: string): boolean => source.clusters.some((pattern) => matchesName(pattern, name));
  if (wanted !== undefined) {
    const { name } = await findCluster(context, wanted);
    if (mayAsk(name)) return [name];
    throw invalid(source.name, `cluster "${name}" may not ask it, only ${source.clusters.join(", ")}; register it again with --for-cluster ${name}`);
  }
  const names: ClusterName[] = [];
  for await (const item of listClusters(context.tables)) {
    const name = item.kind === "read" ? item.record.name : clusterName(item.name);
    if (mayAsk(name)) names.push(name);
  }
  const [first] = names;
  if (first === undefined) throw invalid(source.name, `no cluster may ask it: none is named ${source.clusters.join(" or ")}`);
  return source.service ? names : [first];
};

const connectionOf = async ({ tables }: ServiceContext, name: ClusterName) => {
  const connection = connectionFor(await getCluster(tables, name), await getConnection(tables, name));
  if (connection) return connection;
  throw new TidemarkError("service.invalid", `Cannot ask through cluster "${name}": no connection is stored for it; store one with --replace`, {
    name,
  });
};

/** The secret of a source is the same for all clusters, and is reported once. */
const withoutTwins = (points: readonly CheckedPoint[]): readonly CheckedPoint[] => [
  ...new Map(points.map((point) => [JSON.stringify([point.check, point.message]), point])).values(),
];

const unasked = (more: number): readonly CheckedPoint[] =>
  more > 0 ? [skipped("clusters", `it was asked in the first ${CLUSTERS_MAX} clusters, not in ${more} more; name one with --cluster`)] : [];
