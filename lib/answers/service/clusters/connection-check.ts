import { scaledBy } from "../../../rules/doctor/beside/beside.ts";
import type { ConnectionReport, ScaledWorkload } from "../../../stack/cluster/check/report.ts";
import type { Target } from "../../../stack/cluster/discovery.ts";
import {
  type ScalableKind,
  readScalableKind,
  SCALABLE_KIND_WORDS,
} from "../../../stack/cluster/rights/rules.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { clusterName } from "../../../rules/model/ids.ts";
import type { Connection, ConnectionRecord, SeenServer } from "../../../rules/model/records.ts";
import { listAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import {
  connectionFor,
  getCluster,
  getConnection,
  listConnections,
  putConnection,
  type Reached,
  reachedBy,
} from "../../../stack/store/records/clusters.ts";
import type { Tables } from "../../../stack/store/table/tables.ts";
import { readableSpec } from "../stored-spec.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import type { ServiceContext } from "../context.ts";
import { findAutoscaler, findCluster } from "../find-autoscaler.ts";
import type { ClusterChange, ClusterCheck } from "../service.ts";
import { invalid } from "../refusals.ts";

/**
 * Looks at a stored cluster from where the syncs connect to it. It stores only which version the
 * API server says. Throws `service.unknown`, `service.invalid`.
 */
export const checkCluster = async (
  context: ServiceContext,
  { name, kinds = [], workload, autoscaler }: ClusterCheck,
): Promise<ConnectionReport> => {
  const wanted = kinds.map((text) => kindIn(name, text));
  const cluster = await findCluster(context, name);
  const { partitions, specsFromCluster } = cluster;
  if (!context.checkConnection)
    throw invalid(
      `Cannot check cluster "${name}": nothing here connects to clusters; ask the URL that connects them`,
      { name },
    );
  const stored = await getConnection(context.tables, cluster.name);
  const connection = connectionFor(cluster, stored);
  if (!connection || !stored)
    throw invalid(
      `Cannot check cluster "${name}": no connection is stored for it; store one with --replace`,
      { name },
    );
  if (autoscaler) {
    const scaled = await scaledOf(context, name, autoscaler);
    return context.checkConnection({ name: cluster.name, connection, scaled });
  }
  const beside = { namespaces: namespacesOf(partitions), workload, specsFromCluster };
  const report = await context.checkConnection(
    present({
      name: cluster.name,
      connection,
      kinds: wanted,
      targets: await targetsOf(context, name),
      ...beside,
    }),
  );
  const server = serverIn(context, report);
  // The version of the record stays, so that no environment reads the connection again. Where an
  // edit was first this is refused: the look of the edit is the newer one.
  if (server && isOf(stored, report))
    await putConnection(context.tables, { ...stored, server }, stored);
  return report;
};

const serverIn = (
  { clock }: ServiceContext,
  report: ConnectionReport | undefined,
): SeenServer | undefined =>
  report?.serverVersion === undefined
    ? undefined
    : { version: report.serverVersion, atMs: clock() };

/** False where the identity that is stored did not answer: it may be another cluster. */
const isOf = ({ kubeSystemUid }: ConnectionRecord, report: ConnectionReport): boolean =>
  kubeSystemUid === undefined || kubeSystemUid === report.kubeSystemUid;

/** What an autoscaler does to its workload. Throws where there is none, or it cannot be read. */
const scaledOf = async (
  context: ServiceContext,
  cluster: string,
  query: NonNullable<ClusterCheck["autoscaler"]>,
): Promise<ScaledWorkload> => {
  const { record } = await findAutoscaler(context, { cluster, ...query });
  const spec = readableSpec(record);
  if (spec) return { namespace: record.namespace, ...scaledBy(spec) };
  throw invalid(
    `Cannot look beside the workload of "${query.namespace}/${query.name}": its manifest cannot be read; apply it again`,
    query,
  );
};

const kindIn = (name: string, text: string): ScalableKind => {
  const kind = readScalableKind(text);
  if (kind) return kind;
  throw invalid(`Cannot check cluster "${name}" for the kind "${text}": ${SCALABLE_KIND_WORDS}`, {
    name,
    text,
  });
};

/**
 * Each apiVersion and kind that an autoscaler of the cluster scales. A manifest that this release
 * cannot read names none.
 */
const targetsOf = async (
  { tables }: ServiceContext,
  name: string,
): Promise<readonly Target[] | undefined> => {
  const targets = new Map<string, Target>();
  for await (const item of listAutoscalers(tables, clusterName(name))) {
    const spec = item.kind === "read" ? readableSpec(item.record) : undefined;
    if (!spec) continue;
    const { apiVersion, kind } = spec.target;
    targets.set(`${apiVersion}/${kind}`, { apiVersion, kind });
  }
  return nonEmpty([...targets.values()]);
};

/**
 * The namespaces that are asked about. A partition for all others, or none given, means the whole
 * cluster.
 */
const namespacesOf = (
  partitions: ClusterChange["partitions"] = [],
): readonly string[] | undefined =>
  partitions.every(({ namespaces }) => namespaces !== undefined)
    ? nonEmpty(partitions.flatMap(({ namespaces }) => namespaces ?? []))
    : undefined;

/**
 * Looks at a new connection before it is stored. On doubt, store nothing: a connection with which
 * no sync could work is refused, unless the caller forces it. Undefined where nothing was looked
 * at. Throws `service.unusable` with the report.
 */
export const lookBefore = async (
  context: ServiceContext,
  verb: "add" | "replace",
  { name, connection, partitions, specsFromCluster, force }: ClusterChange,
): Promise<ConnectionReport | undefined> => {
  if (!connection || force === true || !context.checkConnection) return undefined;
  const report = await context.checkConnection(
    present({
      name: clusterName(name),
      connection,
      namespaces: namespacesOf(partitions),
      specsFromCluster,
    }),
  );
  if (report.usable) return report;
  const message = `Cannot ${verb} cluster "${name}": ${unusableWords(report)}; fix this, or store it anyway with force`;
  throw new TidemarkError("service.unusable", message, { report });
};

/** The first point that failed, and how many more did. The report has them all. */
const unusableWords = ({ checks }: ConnectionReport): string => {
  const [first, ...more] = checks.filter(({ result }) => result === "failed");
  if (!first) return "no sync could work with it";
  const others =
    more.length === 0
      ? ""
      : `, and ${more.length} more ${more.length === 1 ? "point" : "points"} failed`;
  return `${first.check}: ${first.message} (to do: ${first.fix ?? "see the report"})${others}`;
};

/** The connection as it is stored, with what the cluster said of itself in the look. */
export const reachedNow = (
  context: ServiceContext,
  connection: Connection,
  report: ConnectionReport | undefined,
): Reached =>
  present({
    connection,
    kubeSystemUid: report?.kubeSystemUid,
    server: serverIn(context, report),
  });

/**
 * Refuses a second name of one cluster, and another cluster under a name: both would scale with
 * windows of other workloads. So does a connection that cannot show the identity that is stored.
 * Throws `service.unusable` with the report. Where no identity was ever known, or by force, nothing
 * is compared.
 */
export const refuseOtherIdentity = async (
  { tables }: ServiceContext,
  verb: "add" | "replace",
  name: string,
  report: ConnectionReport | undefined,
): Promise<void> => {
  if (report === undefined) return;
  const uid = report.kubeSystemUid;
  const other = await otherIdentity(tables, name, uid);
  if (other === undefined) return;
  const fix = other.isSecondName ? "" : `; remove "${name}" and add it again`;
  const words = `${other.why}${fix} (uid of kube-system: ${uid ?? "unknown"}); or store it anyway with force`;
  throw new TidemarkError("service.unusable", `Cannot ${verb} cluster "${name}": ${words}`, {
    report,
  });
};

/**
 * Why the cluster with this uid of kube-system may not have the name; undefined where it may. A
 * cluster that does not say its uid may have a name without a stored one.
 */
export const otherIdentity = async (
  tables: Tables,
  name: string,
  uid: string | undefined,
): Promise<{ readonly why: string; readonly isSecondName: boolean } | undefined> => {
  for await (const stored of listConnections(tables)) {
    const isSame = stored.kubeSystemUid === uid;
    const isOwnName = stored.cluster === name;
    if (
      stored.kubeSystemUid === undefined ||
      isSame === isOwnName ||
      !reachedBy(await getCluster(tables, stored.cluster), stored)
    )
      continue;
    if (isSame)
      return {
        why: `it is cluster "${stored.cluster}" under a second name: both would scale its workloads`,
        isSecondName: true,
      };
    const what =
      uid === undefined
        ? "the cluster that answers there may not be asked for its identity (get of the namespace kube-system), so it may be another one"
        : "another cluster answers there";
    return {
      why: `${what} than the one that was added, whose windows and events would count for it`,
      isSecondName: false,
    };
  }
  return undefined;
};
