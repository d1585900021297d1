import { TidemarkError } from "../../model/errors.ts";
import type { AutoscalerRef } from "../../model/ids.ts";
import { kindsReadFrom, originIn } from "../../model/origin.ts";
import type { AutoscalerRecord, ClusterOrigin, ClusterRecord } from "../../model/records.ts";
import { SPEC_KINDS } from "../../model/spec-kinds.ts";

/** Says where an autoscaler lives that is read from its cluster. */
export const readFromObject = ({ cluster, namespace, name }: AutoscalerRef, { kind }: Pick<ClusterOrigin, "kind">): string =>
  `"${namespace}/${name}" is read from the ${kind} "${name}" in cluster "${cluster}"`;

/** Why a manifest of this kind cannot be stored: the syncs of the cluster read the kind from the cluster itself. */
export const livesInCluster = (cluster: ClusterRecord, { kind, where }: { readonly kind: string; readonly where: string }): string | undefined =>
  kindsReadFrom(cluster).some((read) => read.kind === kind)
    ? `Cannot accept "${where}": every ${kind} of cluster "${cluster.name}" is read from the cluster itself; apply it there, as with kubectl apply`
    : undefined;

/** Throws `service.conflict`: the next sync would read a deleted autoscaler again. One whose object is gone may be deleted before it ends by itself. */
export const mustNotBeObject = (cluster: ClusterRecord, record: AutoscalerRecord): void => {
  const origin = originIn(cluster, record);
  if (!origin || origin.goneMs !== undefined) return;
  const { namespace, name } = record;
  const resource = SPEC_KINDS.filter(({ kind }) => kind === origin.kind).map(({ plural, group }) => `${plural}.${group}`);
  const words = `${readFromObject(record, origin)}; delete that object: kubectl delete ${resource.join()} ${name} -n ${namespace}`;
  throw new TidemarkError("service.conflict", `Cannot delete "${namespace}/${name}": ${words}`, { name });
};
