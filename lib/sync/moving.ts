import type { ClusterRecord } from "../model/records.ts";
import { getCluster, putCluster } from "../store/clusters.ts";
import type { Head } from "../store/head.ts";
import type { Tables } from "../store/tables.ts";

/**
 * The cluster as it is decided. Where somebody began to move namespaces under the version that it still has, and lost his lease, this sync raises the version first: then his flip
 * is refused, or it was there before, and the partitions are the new ones. `undefined`: the cluster was removed.
 */
export const decidedCluster = async (tables: Tables, cluster: ClusterRecord, head: Head): Promise<ClusterRecord | undefined> => {
  if (head.movingVersion !== cluster.version) return cluster;
  await putCluster(tables, { ...cluster, version: cluster.version + 1 }, cluster.version);
  // A conflict is the mover's flip or another's edit: either raised the version, and what is there now counts.
  return getCluster(tables, cluster.name);
};
