import { isDeepStrictEqual } from "node:util";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import {
  type MetricSourceRecord,
  type RegisteredSource,
  SOURCE_LIMITS,
} from "../../../rules/model/metric-source.ts";
import {
  deleteMetricSource,
  getMetricSource,
  lastSourceVersion,
  listMetricSources,
  type MetricSourceItem,
  putMetricSource,
} from "../../../stack/store/records/metric-sources.ts";
import type { SourceEdited, SourceView, UnreadableSource } from "../../views/source.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { recordChange } from "../partitions/record-change.ts";
import { rfc3339 } from "../times.ts";
import type { NewSource, SourceCheck } from "../requests.ts";
import { sourceFaults } from "./source-faults.ts";
import {
  type CheckedPoint,
  type ConnectionReport,
  checkReport,
  skipped,
} from "../../../stack/cluster/check/report.ts";
import { type ClusterName, clusterName } from "../../../rules/model/ids.ts";
import { matchesName } from "../../../rules/model/access.ts";
import {
  type ClusterItem,
  reachedBy,
  getCluster,
  getConnection,
  listClusters,
} from "../../../stack/store/records/clusters.ts";
import { findCluster } from "../find-autoscaler.ts";
import { conflict, invalid, unknown, untilStored } from "../refusals.ts";

/** Each sync that needs one reads them all. */
const SOURCES_MAX = 200;

/** The sources are one scope of changes, as the grants are. */
const SOURCES = { scope: "source", name: "sources" } as const;

const viewOf = ({
  version: _version,
  updatedMs,
  updatedBy,
  ...source
}: MetricSourceRecord): SourceView => ({
  ...source,
  updatedAt: rfc3339(updatedMs),
  updatedBy,
});

/**
 * Every registered source, in order of name. A record that cannot be read says so in place of its
 * fields.
 */
export const sources = ({
  tables,
}: QueryContext): Promise<readonly (SourceView | UnreadableSource)[]> =>
  Array.fromAsync(listMetricSources(tables), (item) => {
    if (item.kind === "read") return viewOf(item.record);
    return {
      name: item.name,
      problem: `its record cannot be read: ${foreignText(item.message)}; register it again, or delete it`,
    };
  });

/** A source as it is stored. */
export const withDefaults = ({ name: _name, ...source }: NewSource): RegisteredSource => ({
  timeoutSeconds: SOURCE_LIMITS.timeoutSeconds.default,
  maxMetrics: SOURCE_LIMITS.maxMetrics.default,
  private: false,
  ...source,
});

const othersEdit = (name: string) => (): TidemarkError =>
  conflict(`Cannot edit source "${name}": others are editing it`, { name });
const notFound = (name: string): TidemarkError =>
  unknown(`Cannot find source "${name}": run tidemark source list`, { name });

/**
 * Registers a source, or replaces the one of its name. Throws `service.invalid` with every fault.
 */
export const putSource = async (
  context: ServiceContext,
  wanted: NewSource,
): Promise<SourceEdited> => {
  const { name } = wanted;
  const source = withDefaults(wanted);
  const faults = sourceFaults(name, source, { ownAddresses: context.ownAddresses === true });
  if (faults.length > 0)
    throw invalid(`Cannot register source "${name}": ${faults.join("; ")}`, { name });
  return untilStored(othersEdit(name), async () => {
    const item = await getMetricSource(context.tables, name);
    const stored = item?.kind === "read" ? item.record : undefined;
    if (stored && isDeepStrictEqual(contentOf(stored), source))
      return { ...viewOf(stored), changed: false };
    if (!item) await mustHaveRoom(context, name);
    const version = (versionOf(item) ?? (await lastSourceVersion(context.tables, name))) + 1;
    const record = { ...source, name, version, updatedMs: context.clock(), updatedBy: context.by };
    const before = stored && { before: { name, ...contentOf(stored) } };
    await recordChange(context, {
      ...SOURCES,
      version,
      verb: "register",
      ...before,
      after: { name, ...source },
    });
    const { kind } = await putMetricSource(context.tables, record, versionOf(item));
    return kind === "stored" ? { ...viewOf(record), changed: true } : undefined;
  });
};

const contentOf = ({
  name: _name,
  version: _version,
  updatedMs: _at,
  updatedBy: _by,
  ...source
}: MetricSourceRecord): RegisteredSource => source;

const mustHaveRoom = async ({ tables }: ServiceContext, name: string): Promise<void> => {
  const { length: count } = await Array.fromAsync(listMetricSources(tables));
  if (count >= SOURCES_MAX)
    throw invalid(
      `Cannot register source "${name}": there are ${count} sources, and the limit is ${SOURCES_MAX}; delete some`,
      { name },
    );
};

/**
 * The number of edits of a record, also of one that cannot be read: it can be replaced and deleted.
 */
const versionOf = (item: MetricSourceItem | undefined): number | undefined =>
  item?.kind === "read" ? item.record.version : item?.version;

/**
 * Deletes a source: the metrics that name it are missing from the next sync on, so that their
 * workloads hold. Throws `service.unknown`.
 */
export const deleteSource = async (context: ServiceContext, name: string): Promise<void> => {
  await untilStored(othersEdit(name), async () => {
    const item = await getMetricSource(context.tables, name);
    const version = versionOf(item);
    if (!item || version === undefined) throw notFound(name);
    const before = item.kind === "read" ? { name, ...contentOf(item.record) } : { name };
    await recordChange(context, { ...SOURCES, version: version + 1, verb: "unregister", before });
    return (await deleteMetricSource(context.tables, name, version)).kind === "stored" || undefined;
  });
};

/** One question through each cluster takes up to 20 s, and the function lives 30 s. */
const CLUSTERS_MAX = 10;

/**
 * Asks a source from where the syncs ask it. It stores nothing. Throws `service.unknown`,
 * `service.invalid`, `store.unreadable`.
 */
export const checkSource = async (
  context: ServiceContext,
  { name, cluster, ...question }: SourceCheck,
): Promise<ConnectionReport> => {
  const source = await sourceRecord(context, name);
  const ask = context.checkSource;
  if (!ask) throw notChecked(name, "nothing here asks sources; ask the URL that connects clusters");
  const clusters = await clustersFor(context, source, cluster);
  const asked = clusters.slice(0, CLUSTERS_MAX);
  const reports = await Promise.all(
    asked.map(async (of) => {
      const reached = source.service && (await connectionOf(context, of));
      return ask({ source, cluster: { name: of }, ...(reached && { reached }), question });
    }),
  );
  return checkReport(name, [
    ...withoutTwins(reports.flatMap(({ checks }) => checks)),
    ...unasked(clusters.length - asked.length),
  ]);
};

const sourceRecord = async (
  { tables }: ServiceContext,
  name: string,
): Promise<MetricSourceRecord> => {
  const item = await getMetricSource(tables, name);
  if (item === undefined) throw notFound(name);
  if (item.kind === "read") return item.record;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot check source "${name}": its record cannot be read; register it again, or delete it`,
    { name },
  );
};

const notChecked = (name: string, why: string): TidemarkError =>
  invalid(`Cannot check source "${name}": ${why}`, { name });

/**
 * The clusters through which it is asked. A source that is no service of a cluster is asked once.
 */
const clustersFor = async (
  context: ServiceContext,
  source: MetricSourceRecord,
  wanted: string | undefined,
): Promise<readonly ClusterName[]> => {
  const mayAsk = (name: string): boolean =>
    source.clusters.some((pattern) => matchesName(pattern, name));
  if (wanted !== undefined) {
    const { name } = await findCluster(context, wanted);
    if (mayAsk(name)) return [name];
    throw notChecked(
      source.name,
      `cluster "${name}" may not ask it, only ${source.clusters.join(", ")}; register it again with --for-cluster ${name}`,
    );
  }
  const nameOf = (item: ClusterItem): ClusterName =>
    item.kind === "read" ? item.record.name : clusterName(item.name);
  const names = (await Array.fromAsync(listClusters(context.tables), nameOf)).filter(mayAsk);
  const [first] = names;
  if (first === undefined)
    throw notChecked(
      source.name,
      `no cluster may ask it: none is named ${source.clusters.join(" or ")}`,
    );
  return source.service ? names : [first];
};

const connectionOf = async ({ tables }: ServiceContext, name: ClusterName) => {
  const stored = reachedBy(await getCluster(tables, name), await getConnection(tables, name));
  if (stored) {
    const { connection, kubeSystemUid } = stored;
    return { connection, ...(kubeSystemUid !== undefined && { kubeSystemUid }) };
  }
  throw invalid(
    `Cannot ask through cluster "${name}": no connection is stored for it; store one with --replace`,
    { name },
  );
};

/** The secret of a source is the same for all clusters, and is reported once. */
const withoutTwins = (points: readonly CheckedPoint[]): readonly CheckedPoint[] => [
  ...new Map(points.map((point) => [JSON.stringify([point.check, point.message]), point])).values(),
];

const unasked = (more: number): readonly CheckedPoint[] =>
  more > 0
    ? [
        skipped(
          "clusters",
          `it was asked in the first ${CLUSTERS_MAX} clusters, not in ${more} more; name one with --cluster`,
        ),
      ]
    : [];
