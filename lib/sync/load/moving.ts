import type { ClusterRecord } from "../../model/records.ts";
import type { Head } from "../../store/head/head.ts";
import { getCluster, raiseClusterVersion } from "../../store/records/clusters.ts";
import type { Tables } from "../../store/table/tables.ts";

/**
 * The cluster whose partitions this sync uses. A move of namespaces may have marked this partition under the version that the cluster still has, and lost its lease. Then this raises
 * the version first: from now on the abandoned move is refused, or it was completed before, and the partitions read here are the new ones. `undefined`: the cluster was removed.
 */
export const decidedCluster = async (tables: Tables, cluster: ClusterRecord, head: Head): Promise<ClusterRecord | undefined> => {
  if (head.movingVersion !== cluster.version) return cluster;
  await raiseClusterVersion(tables, cluster.name, cluster.version);
  return getCluster(tables, cluster.name);
};
