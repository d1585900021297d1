import { demandAt, nextChangeMs } from "../traces/trace.ts";
import type { WorkloadModel } from "./definition.ts";
import {
  bornPod,
  podChanges,
  isGone,
  isLive,
  isReady,
  type SimulatedPod,
  victims,
} from "./simulated-pod.ts";

/**
 * One workload at one instant. It changes at events only (a new sample, a pod that becomes ready, a
 * write), never at the instants of a read: so the same events give the same state, to the last bit,
 * however often it is read.
 */
export interface WorkloadState {
  /** The last event. */
  readonly atMs: number;
  readonly replicas: number;
  /** The manager of the last write of the count; absent where nothing has written it. */
  readonly scaledBy?: string;
  readonly generation: number;
  /** resourceVersion of the deployment. */
  readonly version: number;
  /** Ordinal of the next pod. */
  readonly ordinal: number;
  /** Oldest first, those being deleted included. */
  readonly pods: readonly SimulatedPod[];
  /** The spans of constant load that a scrape may still look back on; the last one is open. */
  readonly segments: readonly [...Segment[], Segment];
  /** Up to `atMs`. */
  readonly totals: Totals;
  /**
   * Units that were asked for by `atMs` and not served yet, if the load is a queue of messages:
   * pods then work off later what they cannot at once.
   */
  readonly waiting: number;
}

/** A span in which neither demand nor ready pods changed. */
export interface Segment {
  readonly fromMs: number;
  readonly demand: number;
  readonly ready: number;
  readonly load: Load;
  /**
   * CPU that a pod which was ready all the time had used by `fromMs`, in millicores × ms since the
   * start of the run.
   */
  readonly cpuUsed: number;
}

/**
 * Demand is counted in samples' worth: units × time ÷ step of the trace, so that for a trace that
 * counts calls it is calls.
 */
export interface Totals {
  readonly elapsedMs: number;
  readonly replicaMs: number;
  readonly readyMs: number;
  readonly demand: number;
  readonly served: number;
  readonly unserved: number;
  readonly aboveTargetMs: number;
  /** Where the most demand at once was not served. Absent where all was. */
  readonly worst?: { readonly atMs: number; readonly unserved: number };
}

const NO_TOTALS: Totals = {
  elapsedMs: 0,
  replicaMs: 0,
  readyMs: 0,
  demand: 0,
  served: 0,
  unserved: 0,
  aboveTargetMs: 0,
};
/** The cluster is older than the run: its first pods are past every initialization period. */
const AGE_AT_START_MS = 600_000;
/** Two scrapes and what may lie between them. */
const LOOK_BACK_MS = 45_000;

export const createdMs = (model: WorkloadModel): number =>
  model.startMs - AGE_AT_START_MS - model.startupMs.max;

/** The workload as the run finds it: its first pods have been ready for long. */
export const initialState = (model: WorkloadModel, version: number): WorkloadState => {
  const born = bear(model, [], {
    from: 0,
    count: model.initialReplicas,
    createdMs: createdMs(model),
    version,
  });
  const atMs = model.startMs;
  const first: Segment = { fromMs: atMs, cpuUsed: 0, ...loadAt(model, born, atMs) };
  return {
    atMs,
    replicas: model.initialReplicas,
    generation: 1,
    version,
    ordinal: born.length,
    pods: born,
    segments: [first],
    totals: NO_TOTALS,
    waiting: 0,
  };
};

/** The next event after the last one, unless a write comes first. */
export const nextEventMs = (model: WorkloadModel, { atMs, pods }: WorkloadState): number => {
  let nextMs =
    model.startMs +
    nextChangeMs(model.trace, atMs - model.startMs + model.traceOffsetMs) -
    model.traceOffsetMs;
  for (const pod of pods)
    for (const changeMs of podChanges(pod))
      if (changeMs > atMs && changeMs < nextMs) nextMs = changeMs;
  return nextMs;
};

/**
 * The state after the event at `atMs`, which must be the next one. What changed carries `version`.
 */
export const passEvent = (
  model: WorkloadModel,
  state: WorkloadState,
  atMs: number,
  version: number,
): WorkloadState => {
  const changed = state.pods.some((pod) => podChanges(pod).includes(atMs));
  const pods = changed
    ? state.pods
        .filter((pod) => !isGone(pod, atMs))
        .map((pod) => (podChanges(pod).includes(atMs) ? { ...pod, version } : pod))
    : state.pods;
  return { ...settle(model, state, pods, atMs), version: changed ? version : state.version };
};

/** The state after `spec.replicas` was written at `atMs`, all events up to then having passed. */
export const writeReplicas = (
  model: WorkloadModel,
  state: WorkloadState,
  write: {
    readonly atMs: number;
    readonly replicas: number;
    readonly version: number;
    readonly manager?: string | undefined;
  },
): WorkloadState => {
  const { atMs, replicas, version, manager } = write;
  const live = state.pods.filter(isLive);
  const doomed = victims(live, Math.max(0, live.length - replicas), atMs);
  const kept = state.pods
    .map((pod) => (doomed.has(pod) ? { ...pod, deletedMs: atMs, version } : pod))
    .filter((pod) => !isGone(pod, atMs));
  const count = Math.max(0, replicas - live.length);
  const born = bear(model, kept, { from: state.ordinal, count, createdMs: atMs, version });
  const { scaledBy: _before, ...settled } = settle(model, state, [...kept, ...born], atMs);
  const written = {
    replicas,
    version,
    generation: state.generation + 1,
    ordinal: state.ordinal + count,
  };
  return { ...settled, ...written, ...(manager !== undefined && { scaledBy: manager }) };
};

/** What has been counted by `nowMs`, which lies before the next event. */
export const totalsAt = (model: WorkloadModel, state: WorkloadState, nowMs: number): Totals => {
  const { demand, ready, load } = openSegment(state);
  const forMs = nowMs - state.atMs;
  const samples = forMs / model.trace.stepMs;
  const { totals } = state;
  const { fromMs } = openSegment(state);
  const isWorse = forMs > 0 && load.unserved > (totals.worst?.unserved ?? 0);
  const worst = isWorse ? { atMs: fromMs, unserved: load.unserved } : totals.worst;
  return {
    ...(worst && { worst }),
    elapsedMs: totals.elapsedMs + forMs,
    replicaMs: totals.replicaMs + state.replicas * forMs,
    readyMs: totals.readyMs + ready * forMs,
    demand: totals.demand + demand * samples,
    served: totals.served + load.served * samples,
    unserved: totals.unserved + load.unserved * samples,
    aboveTargetMs: totals.aboveTargetMs + (isAboveTarget(model, demand, load, ready) ? forMs : 0),
  };
};

export const openSegment = ({ segments }: WorkloadState): Segment => segments.at(-1) ?? segments[0];

/**
 * CPU that a pod which was always ready had used by `atMs`, in millicores × ms. Before the first
 * segment the load is taken to have been the same.
 */
export const cpuUsedAt = ({ segments }: WorkloadState, atMs: number): number => {
  const { fromMs, cpuUsed, load } =
    segments.findLast((segment) => segment.fromMs <= atMs) ?? segments[0];
  return cpuUsed + load.cpuMillicores * (atMs - fromMs);
};

/** What waits at `nowMs`, which lies before the next event. */
export const waitingAt = (model: WorkloadModel, state: WorkloadState, nowMs: number): number => {
  const { demand, ready } = openSegment(state);
  const samples = (nowMs - state.atMs) / model.trace.stepMs;
  return Math.max(0, state.waiting + (demand - ready * capacityPerPod(model)) * samples);
};

/** Closes the open segment at `atMs` and opens one with the given pods. */
const settle = (
  model: WorkloadModel,
  state: WorkloadState,
  pods: readonly SimulatedPod[],
  atMs: number,
): WorkloadState => {
  const next: Segment = {
    fromMs: atMs,
    cpuUsed: cpuUsedAt(state, atMs),
    ...loadAt(model, pods, atMs),
  };
  const kept = state.segments.filter(
    (_, index) => (state.segments[index + 1]?.fromMs ?? atMs) > atMs - LOOK_BACK_MS,
  );
  return {
    ...state,
    atMs,
    pods,
    segments: [...kept, next],
    totals: totalsAt(model, state, atMs),
    waiting: waitingAt(model, state, atMs),
  };
};

const loadAt = (
  model: WorkloadModel,
  pods: readonly SimulatedPod[],
  atMs: number,
): Pick<Segment, "demand" | "ready" | "load"> => {
  const demand = demandAt(model.trace, atMs - model.startMs + model.traceOffsetMs).value;
  const ready = pods.filter((pod) => isReady(pod, atMs)).length;
  return { demand, ready, load: spread(model, demand, ready) };
};

const bear = (
  model: WorkloadModel,
  beside: readonly SimulatedPod[],
  wanted: { from: number; count: number; createdMs: number; version: number },
): readonly SimulatedPod[] => {
  const taken = new Set(beside.map((pod) => pod.name));
  return Array.from({ length: wanted.count }, (_, index) => {
    const pod = bornPod(
      model,
      { ordinal: wanted.from + index, createdMs: wanted.createdMs, version: wanted.version },
      taken,
    );
    taken.add(pod.name);
    return pod;
  });
};

/** The share of the demand that each ready pod gets: an equal one, up to its limit. */
interface Load {
  /** Units that each ready pod is asked for. */
  readonly perPod: number;
  /** CPU that each ready pod uses. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly served: number;
  readonly unserved: number;
}

export const spread = (model: WorkloadModel, demand: number, ready: number): Load => {
  const perPod = ready > 0 ? demand / ready : 0;
  const served = Math.min(demand, ready * capacityPerPod(model));
  return {
    perPod,
    cpuMillicores: Math.min(
      model.limits.cpuMillicores,
      model.idle.cpuMillicores + perPod * model.cpuMillicoresPerUnit,
    ),
    memoryBytes: Math.min(
      model.limits.memoryBytes,
      model.idle.memoryBytes + perPod * model.memoryBytesPerUnit,
    ),
    served,
    unserved: demand - served,
  };
};

/** Units that one pod can serve before its CPU limit throttles it. */
export const capacityPerPod = ({ limits, idle, cpuMillicoresPerUnit }: WorkloadModel): number =>
  (limits.cpuMillicores - idle.cpuMillicores) / cpuMillicoresPerUnit;

/**
 * CPU of the ready pods in percent of their request; absent without ready pods or without a
 * request.
 */
export const cpuPercent = (
  { requests }: WorkloadModel,
  load: Load,
  ready: number,
): number | undefined =>
  ready > 0 && requests.cpuMillicores > 0
    ? (100 * load.cpuMillicores) / requests.cpuMillicores
    : undefined;

/**
 * True while the demand exceeds the target, or while there is demand and no ready pod. Undefined
 * without a target.
 */
export const isAboveTarget = (
  model: WorkloadModel,
  demand: number,
  load: Load,
  ready: number,
): boolean => {
  if (model.targetCpuPercent === undefined) return false;
  const percent = cpuPercent(model, load, ready);
  return percent === undefined ? demand > 0 : percent > model.targetCpuPercent;
};
