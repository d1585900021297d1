import { isDeepStrictEqual } from "node:util";
import { TidemarkError } from "../../model/errors.ts";
import { clusterName, WHOLE_CLUSTER } from "../../model/ids.ts";
import { ANY_HOST, type ClusterRecord, type ConnectionRecord } from "../../model/records.ts";
import { DEFAULT_SETTINGS } from "../../model/settings.ts";
import { SPEC_KIND_NAMES } from "../../model/spec-kinds.ts";
import type { ServiceContext } from "../../service/context.ts";
import { recordChange } from "../../service/partitions/record-change.ts";
import { connectionFor, connectionRecord, getCluster, getConnection, lastVersion, putCluster, putConnection } from "../../store/records/clusters.ts";
import type { Specs } from "./options.ts";

const SYNC_PERIOD_MS = 15_000;

/** What the run knows of its cluster. */
export interface RunCluster extends Pick<ClusterRecord, "name">, Pick<ConnectionRecord, "connection"> {
  /** Where its autoscalers are kept; absent to leave it as it is. */
  readonly specs?: Specs;
}

/** Stores the cluster of the run with its present connection. Its other settings stay as they are. */
export const ensureCluster = async (context: ServiceContext, { name, connection, specs }: RunCluster): Promise<ClusterRecord> => {
  const known = await getCluster(context.tables, clusterName(name));
  const stored = await getConnection(context.tables, clusterName(name));
  const connected = connectionFor(known, stored);
  const wanted = specs === undefined ? {} : { specsFromCluster: specs === "cluster" ? SPEC_KIND_NAMES : [] };
  if (known && isDeepStrictEqual({ ...known, ...wanted, connection }, { ...known, connection: connected })) return known;
  const record = known
    ? { ...known, ...wanted, version: Math.max(known.version, stored?.version ?? 0) + 1 }
    : { ...newRecord(name, context.newUid()), ...wanted, version: (await lastVersion(context.tables, clusterName(name))) + 1 };
  const sides = { ...(known && { before: { ...known, connection: connected } }), after: { ...record, connection } };
  await recordChange(context, { scope: "cluster", name, version: record.version, verb: known ? "replace" : "add", ...sides });
  const first = await putConnection(context.tables, connectionRecord(record, { connection }), stored);
  const written = first.kind === "stored" ? await putCluster(context.tables, record, known?.version) : first;
  if (written.kind === "stored") return record;
  throw new TidemarkError("local.cluster-edited", `Cannot store cluster "${name}": another command is editing it; start again`, { name });
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
