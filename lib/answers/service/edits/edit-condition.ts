import { isTidemarkError, TidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerRef } from "../../../rules/model/ids.ts";
import {
  type AutoscalerRecord,
  type ClusterOrigin,
  type ClusterRecord,
  kindsReadFrom,
  originIn,
} from "../../../rules/model/records.ts";
import { raiseSpecVersions } from "../../../stack/store/records/store-change.ts";
import type { ServiceContext } from "../context.ts";
import type { AutoscalerVersion, EditCondition } from "../service.ts";
import { SPEC_KINDS } from "../../../rules/model/spec.ts";
import { conflict } from "../refusals.ts";

/** The payload of `service.changed`. */
export interface ChangedDetails {
  readonly ref: AutoscalerRef;
  /** The version that is stored; absent when no autoscaler of the name exists. */
  readonly stored?: AutoscalerVersion;
}

const CHANGED = "service.changed";

/*
 *  A  reads uid a, generation 4 ✓ ──────────── write under uid a, generation 4 ✗ ── reads generation 5 ✗: service.changed
 *  B                               writes 5 ✓
 *
 * The check by itself would not stop A. The write is under the version that passed the check, and
 * after a conflict the check runs again on what is stored then.
 */
/**
 * Checks the condition of an edit against the stored record. Throws `service.changed`: an edit
 * under a condition that does not hold changes nothing.
 */
export const mustMatch = (
  condition: EditCondition | undefined,
  ref: AutoscalerRef,
  record: AutoscalerRecord | undefined,
): void => {
  if (condition === undefined) return;
  const cannot = `Cannot edit "${ref.namespace}/${ref.name}" in cluster "${ref.cluster}"`;
  const { cluster, namespace, name } = ref;
  const details = { ref: { cluster, namespace, name } };
  if (!record)
    throw changed(
      `${cannot}: the edit is for a stored autoscaler, and none of this name is stored; create it without a condition`,
      details,
    );
  const { uid, generation } = record;
  if (
    condition === "exists" ||
    condition.some((version) => version.uid === uid && version.generation === generation)
  )
    return;
  const words = `the edit is for ${wantedText(condition, record)}, and generation ${generation} is stored; read the autoscaler again, and repeat the edit on it`;
  throw changed(`${cannot}: ${words}`, { ...details, stored: { uid, generation } });
};

const changed = (message: string, details: ChangedDetails): TidemarkError<string, ChangedDetails> =>
  new TidemarkError(CHANGED, message, details);

const wantedText = (versions: readonly AutoscalerVersion[], { uid }: AutoscalerRecord): string => {
  const generations = versions
    .filter((version) => version.uid === uid)
    .map(({ generation }) => generation);
  if (generations.length > 0) return `generation ${generations.join(" or ")}`;
  return versions.length > 0 ? "another autoscaler of this name" : "a tag that no autoscaler has";
};

/**
 * Raises the spec version after `service.changed`. The edit that made the newer generation may be
 * an earlier attempt of the same caller, which failed before it raised it.
 */
export const raiseForChanged = async (context: ServiceContext, error: unknown): Promise<void> => {
  if (!isTidemarkError(error, CHANGED)) return;
  const { ref } = error.details as ChangedDetails;
  await raiseSpecVersions(context, ref.cluster, [ref.namespace]);
};

/** Says where an autoscaler lives that is read from its cluster. */
export const readFromObject = (
  { cluster, namespace, name }: AutoscalerRef,
  { kind }: Pick<ClusterOrigin, "kind">,
): string => `"${namespace}/${name}" is read from the ${kind} "${name}" in cluster "${cluster}"`;

/**
 * Why a manifest of this kind cannot be stored: the syncs of the cluster read the kind from the
 * cluster itself.
 */
export const livesInCluster = (
  cluster: ClusterRecord,
  { kind, where }: { readonly kind: string; readonly where: string },
): string | undefined =>
  kindsReadFrom(cluster).some((read) => read.kind === kind)
    ? `Cannot accept "${where}": every ${kind} of cluster "${cluster.name}" is read from the cluster itself; apply it there, as with kubectl apply`
    : undefined;

/**
 * Throws `service.conflict`: the next sync would read a deleted autoscaler again. One whose object
 * is gone may be deleted before it ends by itself.
 */
export const mustNotBeObject = (cluster: ClusterRecord, record: AutoscalerRecord): void => {
  const origin = originIn(cluster, record);
  if (!origin || origin.goneMs !== undefined) return;
  const { namespace, name } = record;
  const resource = SPEC_KINDS.filter(({ kind }) => kind === origin.kind).map(
    ({ plural, group }) => `${plural}.${group}`,
  );
  const words = `${readFromObject(record, origin)}; delete that object: kubectl delete ${resource.join()} ${name} -n ${namespace}`;
  throw conflict(`Cannot delete "${namespace}/${name}": ${words}`, { name });
};
