import type { AutoscalerRecord, ClusterOrigin, ClusterRecord } from "./records.ts";
import { SPEC_KINDS, type SpecKind } from "./spec-kinds.ts";

/** The kinds that the syncs of this cluster read from it. */
export const kindsReadFrom = ({ specsFromCluster }: Pick<ClusterRecord, "specsFromCluster">): readonly SpecKind[] =>
  SPEC_KINDS.filter(({ kind }) => specsFromCluster?.includes(kind));

/** The object that decides what this autoscaler is. Absent where it is edited in Tidemark, also after a change of the cluster to `--specs table`. */
export const originIn = (
  cluster: Pick<ClusterRecord, "specsFromCluster">,
  { origin }: Pick<AutoscalerRecord, "origin">,
): ClusterOrigin | undefined => (origin && kindsReadFrom(cluster).some(({ kind }) => kind === origin.kind) ? origin : undefined);
