import type { ClusterRecord } from "./records.ts";

/**
 * Identifies one version of one cluster: two records with the same text are the same record. A version alone does not, because a cluster that was removed and added again
 * under its name may be another physical cluster. Whatever is remembered of a cluster between two syncs is kept under this text.
 */
export const incarnationOf = ({ uid, version }: Pick<ClusterRecord, "uid" | "version">): string => `${uid ?? ""}:${version}`;
