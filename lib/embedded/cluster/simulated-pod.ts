import { type WorkloadModel, drawer, drawName, drawUid } from "./definition.ts";

/** A pod. All its instants are known when it is made, unless it is deleted. */
export interface SimulatedPod {
  readonly name: string;
  readonly uid: string;
  readonly createdMs: number;
  /** The instant at which a node took it. */
  readonly startedMs: number;
  /** The instant at which its container runs. */
  readonly runningMs: number;
  readonly readyMs: number;
  readonly deletedMs?: number;
  /** resourceVersion of its last change. */
  readonly version: number;
}

/** Time from the deletion of a running pod until it is gone. */
export const TERMINATION_MS = 5_000;
const NAME_SUFFIX_LENGTH = 5;
const SCHEDULING_MS = { min: 100, max: 900 };
/** How much of the start-up goes by before the container runs (image, volumes), in percent. */
const PULLING_PERCENT = { min: 30, max: 60 };

/**
 * The pod number `ordinal` of a workload: name, uid and durations follow from the seed. `taken`:
 * names that live.
 */
export const bornPod = (
  model: WorkloadModel,
  born: { readonly ordinal: number; readonly createdMs: number; readonly version: number },
  taken: ReadonlySet<string>,
) => {
  const purpose = [model.namespace, model.name, "pod", born.ordinal];
  const draw = drawer(model.seed, ...purpose);
  const startupMs = draw(model.startupMs.min, model.startupMs.max);
  const pullingMs = Math.floor((startupMs * draw(PULLING_PERCENT.min, PULLING_PERCENT.max)) / 100);
  const schedulingMs = Math.min(draw(SCHEDULING_MS.min, SCHEDULING_MS.max), pullingMs);
  const { createdMs, version } = born;
  return {
    name: freeName(model, purpose, taken),
    uid: drawUid(model.seed, ...purpose),
    createdMs,
    startedMs: createdMs + schedulingMs,
    runningMs: createdMs + pullingMs,
    readyMs: createdMs + startupMs,
    version,
  } satisfies SimulatedPod;
};

const freeName = (
  model: WorkloadModel,
  purpose: readonly (string | number)[],
  taken: ReadonlySet<string>,
): string => {
  for (let attempt = 0; ; attempt++) {
    const name = `${replicaSetName(model)}-${drawName(NAME_SUFFIX_LENGTH, model.seed, ...purpose, "name", attempt)}`;
    if (!taken.has(name)) return name;
  }
};

export const replicaSetName = ({ name, podTemplateHash }: WorkloadModel): string =>
  `${name}-${podTemplateHash}`;

export const isLive = (pod: SimulatedPod): boolean => pod.deletedMs === undefined;
export const isRunning = (pod: SimulatedPod, atMs: number): boolean => pod.runningMs <= atMs;
export const isReady = (pod: SimulatedPod, atMs: number): boolean =>
  isLive(pod) && pod.readyMs <= atMs;
export const isGone = (pod: SimulatedPod, atMs: number): boolean =>
  pod.deletedMs !== undefined && pod.deletedMs + terminationMs(pod) <= atMs;

/** The instants at which something about the pod changes. */
export const podChanges = (pod: SimulatedPod): readonly number[] =>
  pod.deletedMs === undefined
    ? [pod.startedMs, pod.runningMs, pod.readyMs]
    : [pod.deletedMs + terminationMs(pod)];

/** A pod without a node is gone at once. */
const terminationMs = ({ deletedMs, startedMs }: SimulatedPod): number =>
  deletedMs !== undefined && deletedMs < startedMs ? 0 : TERMINATION_MS;

/**
 * The pods to delete when `count` are too many, in the order of the ReplicaSet controller as far as
 * it applies here: not on a node first, then not running, then not ready, then ready for the
 * shortest time, then the youngest. Pods that were made in the same instant go by name, so that the
 * choice is always the same.
 */
export const victims = (
  live: readonly SimulatedPod[],
  count: number,
  atMs: number,
): ReadonlySet<SimulatedPod> => {
  const stage = (pod: SimulatedPod) =>
    Number(pod.startedMs <= atMs) + Number(isRunning(pod, atMs)) + Number(isReady(pod, atMs));
  const byRank = (a: SimulatedPod, b: SimulatedPod) =>
    stage(a) - stage(b) ||
    (isReady(a, atMs) && isReady(b, atMs) ? b.readyMs - a.readyMs : 0) ||
    b.createdMs - a.createdMs ||
    (a.name < b.name ? -1 : 1);
  return new Set([...live].sort(byRank).slice(0, count));
};
