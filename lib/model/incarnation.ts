import type { ClusterRecord } from "./records.ts";

/**
 * Identifies one version of one cluster: two records with the same text are the same record. The version alone does not identify it, because a cluster that was removed and added
 * again under its name may be another physical cluster. Everything that is remembered of a cluster between two syncs has this text as its key.
 */
export const incarnationOf = ({ uid, version }: Pick<ClusterRecord, "uid" | "version">): string => `${uid ?? ""}:${version}`;
