import { isDeepStrictEqual } from "node:util";
import { ON_THIS_MACHINE } from "../../stack/cluster/access/kubeconfig-file.ts";
import type { ConnectionReport } from "../../stack/cluster/check/report.ts";
import { present } from "../../rules/model/json.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { type ClusterName, clusterName, WHOLE_CLUSTER } from "../../rules/model/ids.ts";
import {
  ANY_HOST,
  type ClusterRecord,
  type Connection,
  type ConnectionRecord,
} from "../../rules/model/records.ts";
import { SPEC_KIND_NAMES } from "../../rules/model/spec.ts";
import { DEFAULT_SETTINGS } from "../../rules/model/spec-common.ts";
import { otherIdentity } from "../../answers/service/clusters/connection-check.ts";
import type { ServiceContext } from "../../answers/service/context.ts";
import { recordChange } from "../../answers/service/partitions/record-change.ts";
import {
  connectionRecord,
  getCluster,
  getConnection,
  lastVersion,
  putCluster,
  putConnection,
  type Reached,
  reachedBy,
} from "../../stack/store/records/clusters.ts";
import type { Specs } from "./options.ts";

const SYNC_PERIOD_MS = 15_000;

type SaidOfItself = Pick<ConnectionReport, "kubeSystemUid" | "serverVersion">;

/** What the run knows of its cluster. */
interface RunCluster extends Pick<ClusterRecord, "name">, Pick<ConnectionRecord, "connection"> {
  /** Where its autoscalers are kept; absent to leave it as it is. */
  readonly specs?: Specs;
  /**
   * Reads the uid of its namespace kube-system and the version of its API server, each where the
   * server says it. Absent: it is not asked.
   */
  readonly readSaid?: (name: ClusterName, connection: Connection) => Promise<SaidOfItself>;
}

/**
 * Stores the cluster of the run with its present connection. Its other settings stay as they are,
 * and so does the identity that the connection has: where another cluster answers now, its syncs
 * hold. Throws `local.other-cluster` where the folder has the cluster under another name, or
 * another cluster under this one.
 */
export const ensureCluster = async (
  context: ServiceContext,
  cluster: RunCluster,
): Promise<ClusterRecord> => {
  const { name, connection, specs } = cluster;
  const known = await getCluster(context.tables, clusterName(name));
  const stored = await getConnection(context.tables, clusterName(name));
  const before = reachedBy(known, stored);
  const reached = await reachedNow(context, cluster, before);
  const wanted =
    specs === undefined ? {} : { specsFromCluster: specs === "cluster" ? SPEC_KIND_NAMES : [] };
  const isReached =
    isDeepStrictEqual(reached.connection, before?.connection) &&
    reached.kubeSystemUid === before?.kubeSystemUid;
  if (known && isReached && isDeepStrictEqual({ ...known, ...wanted }, known)) return known;
  await refuseOther(context.tables, name, reached.kubeSystemUid);
  const record = known
    ? { ...known, ...wanted, version: Math.max(known.version, stored?.version ?? 0) + 1 }
    : {
        ...newRecord(name, context.newUid()),
        ...wanted,
        version: (await lastVersion(context.tables, clusterName(name))) + 1,
      };
  const sides = {
    ...(known && { before: { ...known, connection: before?.connection } }),
    after: { ...record, connection },
  };
  await recordChange(context, {
    scope: "cluster",
    name,
    version: record.version,
    verb: known ? "replace" : "add",
    ...sides,
  });
  const first = await putConnection(context.tables, connectionRecord(record, reached), stored);
  const written =
    first.kind === "stored" ? await putCluster(context.tables, record, known?.version) : first;
  if (written.kind === "stored") return record;
  throw new TidemarkError(
    "local.cluster-edited",
    `Cannot store cluster "${name}": another command is editing it; start again`,
    { name },
  );
};

/**
 * A connection keeps its identity: where it is asked again, another cluster behind the same
 * kubeconfig would be taken for the former one.
 */
const reachedNow = async (
  { clock }: ServiceContext,
  { name, connection, readSaid }: RunCluster,
  before: Reached | undefined,
): Promise<Reached> => {
  if (before?.kubeSystemUid !== undefined && isDeepStrictEqual(connection, before.connection))
    return before;
  const { kubeSystemUid, serverVersion: version } = (await readSaid?.(name, connection)) ?? {};
  return present({
    connection,
    kubeSystemUid,
    server: version === undefined ? undefined : { version, atMs: clock() },
  });
};

const refuseOther = async (
  tables: ServiceContext["tables"],
  name: ClusterName,
  uid: string | undefined,
): Promise<void> => {
  const other = await otherIdentity(tables, name, uid);
  if (other === undefined) return;
  const fix = other.isSecondName
    ? "remove that one (tidemark cluster remove)"
    : "start with the former kubeconfig and context, or in a folder of its own (--data)";
  throw new TidemarkError(
    "local.other-cluster",
    `Cannot start with cluster "${name}": ${other.why} (uid of kube-system: ${uid ?? "unknown"}); ${fix}`,
    {
      name,
      uid,
    },
  );
};

const newRecord = (name: string, uid: string): ClusterRecord => ({
  name: clusterName(name),
  uid,
  syncPeriodMs: SYNC_PERIOD_MS,
  partitions: [{ name: WHOLE_CLUSTER }],
  settings: DEFAULT_SETTINGS,
  // The manifests belong to the user of this machine, as the kubeconfig does.
  recommenderHosts: [ANY_HOST, `http://${ANY_HOST}`],
  version: 1,
});

/** Loaded when it is asked: a folder that goes on has the identity of its cluster. */
export const saidOfItself = async (
  name: ClusterName,
  connection: Connection,
): Promise<SaidOfItself> => {
  const { readSaid } = await import("../../stack/cluster/check/check-connection.ts");
  return readSaid({ name, connection }, { clock: Date.now, trusted: ON_THIS_MACHINE });
};
