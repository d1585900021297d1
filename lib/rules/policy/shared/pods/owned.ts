import type { Pod } from "../../../model/observation.ts";
import type { TargetRef } from "../../../model/spec-common.ts";

/** Kinds whose pods belong to a ReplicaSet that they made: `<name>-<hash of the template>`. */
const BY_REPLICA_SET: ReadonlySet<string> = new Set(["Deployment", "Rollout"]);
/** Kinds that own their pods themselves. */
const DIRECTLY: ReadonlySet<string> = new Set([
  "ReplicaSet",
  "StatefulSet",
  "ReplicationController",
]);

/**
 * Whether the target of an autoscaler owns a pod; `undefined` where that cannot be said, because
 * the kind is none of Kubernetes' own, and others may stand between it and its pods.
 */
export const ownership = ({
  kind,
  name,
}: Pick<TargetRef, "kind" | "name">): ((pod: Pick<Pod, "owners">) => boolean) | undefined => {
  if (BY_REPLICA_SET.has(kind))
    return ({ owners }) =>
      owners.some((owner) => owner.kind === "ReplicaSet" && withoutHash(owner.name) === name);
  return DIRECTLY.has(kind)
    ? ({ owners }) => owners.some((owner) => owner.kind === kind && owner.name === name)
    : undefined;
};

/** The hash of a template has no dash. */
const withoutHash = (replicaSet: string): string =>
  replicaSet.slice(0, Math.max(0, replicaSet.lastIndexOf("-")));

/** Pods that have ended: nothing in them runs any more, or will. */
export const hasFinished = ({ phase }: Pick<Pod, "phase">): boolean =>
  phase === "Succeeded" || phase === "Failed";
