import type { ClusterRecord } from "../model/records.ts";
import type { Head } from "../store/head/head.ts";
import { getCluster, raiseClusterVersion } from "../store/records/clusters.ts";
import type { Tables } from "../store/table/tables.ts";

/**
 * The cluster as it is decided. A mover may have marked this partition under the version that the cluster still has, and lost its lease. Then the version is raised first: either the mover's flip is
 * refused from now on, or it came before, and the partitions are the new ones. `undefined`: the cluster was removed.
 */
export const decidedCluster = async (tables: Tables, cluster: ClusterRecord, head: Head): Promise<ClusterRecord | undefined> => {
  if (head.movingVersion !== cluster.version) return cluster;
  await raiseClusterVersion(tables, cluster.name, cluster.version);
  return getCluster(tables, cluster.name);
};
