import type { AutoscalerRecord, ClusterRecord } from "./records.ts";

/**
 * Identifies one version of one cluster: two records with the same text are the same record. The version is not enough, because a cluster that was removed and added
 * again under its name may be another physical cluster. Everything that is remembered of a cluster between two syncs has this text as its key.
 */
export const incarnationOf = ({ uid, version }: Pick<ClusterRecord, "uid" | "version">): string => `${uid ?? ""}:${version}`;

/**
 * True where the last apply meant an earlier cluster of this name, which was removed since: that apply died, or stood still, before it could take the record back. The workload may be in another
 * physical cluster now, so nothing is scaled until it is applied again.
 */
export const isOfEarlierCluster = ({ uid }: Pick<ClusterRecord, "uid">, { clusterUid }: Pick<AutoscalerRecord, "clusterUid">): boolean =>
  clusterUid !== undefined && clusterUid !== uid;
