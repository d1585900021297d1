import type { Pod } from "../../../model/observation.ts";
import type { TargetRef } from "../../../model/spec-common.ts";

/** Kinds whose pods belong to a ReplicaSet that they made: `<name>-<hash of the template>`. */
const BY_REPLICA_SET: ReadonlySet<string> = new Set(["Deployment", "Rollout"]);
/** Kinds that own their pods themselves. A Rollout of another API than Argo's may, too. */
const DIRECTLY: ReadonlySet<string> = new Set([
  "ReplicaSet",
  "StatefulSet",
  "ReplicationController",
  "Rollout",
]);

type Owned = Pick<Pod, "owners" | "labels">;

/**
 * Whether the target of an autoscaler owns a pod; `undefined` where that cannot be said, because
 * the kind is none of Kubernetes' own, and others may stand between it and its pods.
 */
export const ownership = ({
  kind,
  name,
}: Pick<TargetRef, "kind" | "name">): ((pod: Owned) => boolean) | undefined => {
  const direct = DIRECTLY.has(kind);
  if (!BY_REPLICA_SET.has(kind) && !direct) return undefined;
  const isOf = (owner: Owned["owners"][number], labels: Owned["labels"]): boolean =>
    (direct && owner.kind === kind && owner.name === name) ||
    (BY_REPLICA_SET.has(kind) && owner.kind === "ReplicaSet" && isMadeBy(name, owner.name, labels));
  return ({ owners, labels }) => owners.some((owner) => isOf(owner, labels));
};

/**
 * The hash of a template has no dash, and the pods carry it as a label. A ReplicaSet `web-canary`
 * that a person made is none of the Deployment `web`.
 */
const isMadeBy = (name: string, replicaSet: string, labels: Owned["labels"]): boolean => {
  if (replicaSet.lastIndexOf("-") !== name.length || !replicaSet.startsWith(name)) return false;
  const hash = templateHash(labels);
  return hash === undefined || replicaSet === `${name}-${hash}`;
};

const templateHash = (labels: Owned["labels"]): string | undefined =>
  labels["pod-template-hash"] ?? labels["rollouts-pod-template-hash"];

/** Pods that have ended: nothing in them runs any more, or will. */
export const hasFinished = ({ phase }: Pick<Pod, "phase">): boolean =>
  phase === "Succeeded" || phase === "Failed";

/** The template that a pod was made from; `undefined` where its kind writes no label of it. */
const revisionOf = ({ labels }: Pick<Pod, "labels">): string | undefined =>
  templateHash(labels) ?? labels["controller-revision-hash"];

/** The pods that run, or will. */
const isLive = (pod: Pod): boolean => !pod.deleting && !hasFinished(pod);

/**
 * The pods of the revision that most of the live pods have; of two with as many, the one whose
 * first pod started earlier. During a rollout the others are pods of another revision.
 */
export const stablePods = (owned: readonly Pod[]): readonly Pod[] => {
  const [one, ...rest] = Map.groupBy(owned.filter(isLive), revisionOf);
  if (one === undefined || rest.length === 0) return owned;
  const [stable] = rest.reduce((most, other) => (isBefore(other[1], most[1]) ? other : most), one);
  return owned.filter((pod) => revisionOf(pod) === stable);
};

const isBefore = (pods: readonly Pod[], others: readonly Pod[]): boolean =>
  pods.length === others.length
    ? firstStart(pods) < firstStart(others)
    : pods.length > others.length;

const firstStart = (pods: readonly Pod[]): number =>
  Math.min(...pods.map(({ startMs = Number.POSITIVE_INFINITY }) => startMs));

/** How many live pods have another revision than most of them: a rollout is under way. */
export const ofOtherRevision = (owned: readonly Pod[]): number => {
  const live = owned.filter(isLive);
  return live.length - stablePods(live).length;
};
