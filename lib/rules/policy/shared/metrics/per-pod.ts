import { type Failure, failure, type PodSamples } from "../../../sources/source.ts";
import type { Pod } from "../../../model/observation.ts";
import { ceilI32, isInside, MAX_I32, MIN_I32, wrapI32, wrapI64 } from "../arithmetic.ts";
import { isMended } from "../../../model/spec-common.ts";
import { bendsAround, ceilDivided, type Corrected, type Curve, floorDivided } from "./curve.ts";
import {
  groupPods,
  type CountedPods,
  type MetricContext,
  type PodGroups,
  type Proposal,
  type Ratio,
} from "./measurement.ts";
import { type Requests, requestsOf } from "./requests.ts";

/** One metric that is measured pod by pod. The samples that do not count are taken out of it. */
export interface PerPodInput
  extends Pick<
    MetricContext,
    "currentReplicas" | "tolerance" | "pods" | "own" | "sinceMs" | "readiness"
  > {
  readonly samples: PodSamples;
  /** Empty for Pods metrics. */
  readonly resource: string;
}

/** A proposal with the pods behind it, and with what another value would propose. */
export interface PerPodProposal {
  readonly kind: "proposed";
  readonly proposal: Proposal;
  readonly counted: () => CountedPods;
  readonly curve: () => Curve;
}

/** What some samples add up to. */
interface Sums {
  readonly usedMilli: bigint;
  /** Of the samples whose pods are listed; 0 where requests are not looked at. */
  readonly requestedMilli: bigint;
  readonly requesting: number;
  readonly samples: number;
}

const NOTHING: Sums = { usedMilli: 0n, requestedMilli: 0n, requesting: 0, samples: 0 };

const plus = (one: Sums, other: Sums): Sums => ({
  usedMilli: one.usedMilli + other.usedMilli,
  requestedMilli: one.requestedMilli + other.requestedMilli,
  requesting: one.requesting + other.requesting,
  samples: one.samples + other.samples,
});

/**
 * How one kind of target turns samples into a ratio, and what it assumes for a pod that gave none
 * while the others ask for less.
 */
interface Measure {
  /** Absent for a target that no request matters to. */
  readonly requests?: Requests;
  readonly ratioOf: (sums: Sums) => Ratio | Failure;
  readonly assumedWhenShrinking: (pod: string) => bigint;
  /** The same for people: "100%". */
  readonly assumedAs: string;
  /** The amount of a step, all samples together; and its target, in steps. */
  readonly steps: (sums: Sums) => { readonly over: bigint; readonly under: bigint };
  readonly target: number;
}

/** Steps of a percentage: thousandths of a percent. */
const STEPS_OF_ALL = 100_000n;
const STEPS_OF_PERCENT = 1000;

/** hpa.md 3.3: target in percent of what the pods request. */
export const utilizationReplicas = (
  input: PerPodInput,
  targetPercent: number,
  container: string | undefined,
): PerPodProposal | Failure => {
  const groups = prepare(input);
  if ("message" in groups) return groups;
  const requests = requestsOf(
    measuredPods(input),
    { resource: input.resource, container },
    input.readiness,
  );
  if ("message" in requests) return requests;
  // A pod that reports nothing is taken to use all that it requests, or all of a target above that:
  // shrinking must not come from silence.
  const assumedPercent = Math.max(100, targetPercent);
  return proposeFor(input, groups, {
    requests,
    ratioOf: (sums) =>
      (isMended(input.readiness) ? exactUtilizationRatio : utilizationRatio)(sums, targetPercent),
    assumedWhenShrinking: (pod) =>
      wrapI64((requests.get(pod) ?? 0n) * BigInt(assumedPercent)) / 100n,
    assumedAs: `${assumedPercent}%`,
    steps: ({ requestedMilli }) => ({ over: requestedMilli, under: STEPS_OF_ALL }),
    target: targetPercent * 1000,
  });
};

/** hpa.md 3.4: target as an amount per pod. */
export const averageReplicas = (
  input: PerPodInput,
  targetMilli: bigint,
): PerPodProposal | Failure => {
  const groups = prepare(input);
  if ("message" in groups) return groups;
  return proposeFor(input, groups, {
    ratioOf: (sums) => averageRatio(sums, targetMilli, isMended(input.readiness)),
    assumedWhenShrinking: () => targetMilli,
    assumedAs: "the target",
    steps: ({ samples }) => ({ over: BigInt(samples), under: 1n }),
    target: Number(targetMilli),
  });
};

const measuredPods = ({ own, pods }: Pick<PerPodInput, "own" | "pods">): readonly Pod[] =>
  own?.measured ?? pods;

interface PreparedPods extends PodGroups {
  readonly stale: number;
}

const prepare = (input: PerPodInput): PreparedPods | Failure => {
  const { samples, resource, readiness, own, sinceMs } = input;
  const pods = measuredPods(input);
  if (pods.length === 0) return failure(own ? NONE_OWNED : NONE_SELECTED);
  if (own) leaveOutOthers(samples, pods);
  const old = sinceMs === undefined ? NO_OLD : leaveOutOld(samples, sinceMs);
  const groups = groupPods(pods, samples, resource, readiness);
  for (const pod of groups.ignored) samples.delete(pod);
  for (const pod of groups.unready) samples.delete(pod);
  if (samples.size > 0) return { ...groups, stale: old.count };
  return old.count > 0
    ? failure(staleWords(old.youngestMs, readiness.nowMs, sinceMs), "Stale")
    : failure("did not receive metrics for targeted pods (pods might be unready)");
};

const NONE_SELECTED = "no pods returned by selector while calculating replica count";
const NONE_OWNED = "no pod that the selector matches belongs to the target and still runs";

interface OldSamples {
  readonly count: number;
  readonly youngestMs: number;
}

const NO_OLD: OldSamples = { count: 0, youngestMs: Number.NEGATIVE_INFINITY };

/** Pods that are gone, belong to others or do not count otherwise. */
const leaveOutOthers = (samples: PodSamples, measured: readonly Pod[]): void => {
  const names = new Set<string>();
  for (const { name } of measured) names.add(name);
  for (const pod of samples.keys()) if (!names.has(pod)) samples.delete(pod);
};

/** A source that says no time of its samples has none that is old. */
const leaveOutOld = (samples: PodSamples, sinceMs: number): OldSamples => {
  let { count, youngestMs } = NO_OLD;
  for (const [pod, { timestampMs }] of samples) {
    if (timestampMs <= 0 || timestampMs >= sinceMs) continue;
    samples.delete(pod);
    count++;
    youngestMs = Math.max(youngestMs, timestampMs);
  }
  return { count, youngestMs };
};

const staleWords = (youngestMs: number, nowMs: number, sinceMs = nowMs): string => {
  const [age, most] = [nowMs - youngestMs, nowMs - sinceMs].map((ms) => Math.round(ms / 1000));
  return `the youngest sample of its pods is ${age} s old, and maxAgeSeconds is ${most}`;
};

const proposeFor = (
  input: PerPodInput,
  groups: PreparedPods,
  measure: Measure,
): PerPodProposal | Failure => {
  const read = sumsOf(input.samples.keys(), (pod) => input.samples.get(pod)?.milli ?? 0n, measure);
  const propose = proposer(input, groups, measure, read);
  const proposal = propose(read.usedMilli);
  if ("message" in proposal) return proposal;
  return {
    kind: "proposed",
    proposal,
    counted: () => countedOf(input, groups),
    curve: () => curveOf(input, groups, measure, read, propose),
  };
};

/** Without requests every sample counts; with them, a sample of a pod that is listed. */
const sumsOf = (
  pods: Iterable<string>,
  usedBy: (pod: string) => bigint,
  { requests }: Measure,
): Sums => {
  let [usedMilli, requestedMilli] = [0n, 0n];
  let [requesting, samples] = [0, 0];
  for (const pod of pods) {
    samples++;
    const request = requests ? requests.get(pod) : 0n;
    if (request === undefined) continue;
    usedMilli += usedBy(pod);
    requestedMilli += request;
    requesting++;
  }
  return { usedMilli, requestedMilli, requesting, samples };
};

/** What is assumed for the pods that gave no usable sample, by the direction of the others. */
const shrinking = ({ missing }: PodGroups, measure: Measure): Sums =>
  sumsOf(missing, measure.assumedWhenShrinking, measure);
const growing = ({ missing, unready }: PodGroups, measure: Measure): Sums =>
  sumsOf([...missing, ...unready], () => 0n, measure);

const proposer =
  (input: PerPodInput, groups: PodGroups, measure: Measure, read: Sums) =>
  (usedMilli: bigint): Proposal | Failure => {
    const sums = { ...read, usedMilli };
    const first = measure.ratioOf(sums);
    if ("message" in first) return first;
    const assuming = first.ratio > 1 ? withoutSurge(input, groups) : groups;
    // Without anything to assume there is no guard against a step in the other direction: upstream
    // relies on that during a surge (hpa.md 3.3).
    const hasUnready = assuming.unready.length > 0 && first.ratio > 1;
    if (hasUnready || assuming.missing.length > 0)
      return withAssumed(input, assuming, measure, { sums, first });
    const replicas = isInside(first.ratio, input.tolerance)
      ? input.currentReplicas
      : ceilI32(first.ratio * sharedBy(input, groups.ready, first.ratio), input.readiness);
    return { ...first, kind: "proposal", replicas };
  };

/**
 * On the way up the pods of a surge count for nothing, as they go when the rollout ends: no pod
 * beyond the count of the scale is taken for one that would carry load.
 */
const withoutSurge = ({ own }: Pick<PerPodInput, "own">, groups: PodGroups): PodGroups => {
  if (!own) return groups;
  const room = Math.max(0, own.wanted - groups.ready - own.beside);
  const missing = groups.missing.slice(0, room);
  return { ...groups, missing, unready: groups.unready.slice(0, room - missing.length) };
};

/**
 * How many pods the value is of. A surge raises no count, so that on the way up there are no more
 * than the scale asks for. On the way down they count, since the load was spread over them: fewer
 * would be too few when they are gone.
 */
const sharedBy = ({ own }: Pick<PerPodInput, "own">, samples: number, ratio: number): number => {
  if (!own) return samples;
  const all = samples + own.beside;
  return ratio > 1 ? Math.min(all, Math.max(1, own.wanted)) : all;
};

const withAssumed = (
  input: PerPodInput,
  groups: PodGroups,
  measure: Measure,
  { sums, first }: { readonly sums: Sums; readonly first: Ratio },
): Proposal | Failure => {
  const all = plus(sums, assumedFor(first.ratio, groups, measure));
  const second = measure.ratioOf(all);
  if ("message" in second) return second;
  return {
    ...first,
    ...overflowOf(second.overflowed === true),
    kind: "proposal",
    replicas: dampened(input, first.ratio, second.ratio, all.samples),
    assumed: {
      ...second,
      pods: all.samples - sums.samples,
      as: first.ratio > 1 ? "0" : measure.assumedAs,
    },
  };
};

const assumedFor = (ratio: number, groups: PodGroups, measure: Measure): Sums => {
  if (ratio < 1) return shrinking(groups, measure);
  return ratio > 1 ? growing(groups, measure) : NOTHING;
};

/** What was assumed may weaken a change, never turn it round. */
const dampened = (input: PerPodInput, before: number, after: number, samples: number): number => {
  const { currentReplicas, tolerance } = input;
  const turned = (before < 1 && after > 1) || (before > 1 && after < 1);
  if (isInside(after, tolerance) || turned) return currentReplicas;
  const replicas = ceilI32(after * sharedBy(input, samples, after), input.readiness);
  const crossed =
    (after < 1 && replicas > currentReplicas) || (after > 1 && replicas < currentReplicas);
  return crossed ? currentReplicas : replicas;
};

const NO_KNOWN_PODS = "no metrics returned matched known pods";

/** Whole percent, cut off before the ratio is formed (hpa.md 3.3). */
const utilizationRatio = (
  { usedMilli: used, requestedMilli: requested, requesting }: Sums,
  targetPercent: number,
): Ratio | Failure => {
  const requestedTotal = wrapI64(requested);
  if (requestedTotal === 0n) return failure(NO_KNOWN_PODS);
  const usedTotal = wrapI64(used);
  const percent = wrapI64(usedTotal * 100n) / requestedTotal;
  const utilization = wrapI32(percent);
  const overflowed =
    wrapI64(used * 100n) !== used * 100n ||
    requestedTotal !== requested ||
    BigInt(utilization) !== percent;
  return {
    ratio: utilization / targetPercent,
    utilization,
    usageMilli: usedTotal / BigInt(requesting),
    ...overflowOf(overflowed),
  };
};

/** Since 1.38 the sums are exact, and the percentage stops at 32 bits (hpa.md 0.2). */
const exactUtilizationRatio = (
  { usedMilli, requestedMilli, requesting }: Sums,
  targetPercent: number,
): Ratio | Failure => {
  if (requestedMilli === 0n) return failure(NO_KNOWN_PODS);
  const percent = Number((usedMilli * 100n) / requestedMilli);
  const utilization = Math.max(MIN_I32, Math.min(percent, MAX_I32));
  return {
    ratio: utilization / targetPercent,
    utilization,
    usageMilli: usedMilli / BigInt(requesting),
  };
};

/** The mean is over all samples, also samples of pods that are not listed (hpa.md 3.4). */
const averageRatio = ({ usedMilli, samples }: Sums, targetMilli: bigint, exact: boolean): Ratio => {
  const total = exact ? usedMilli : wrapI64(usedMilli);
  const usageMilli = total / BigInt(samples);
  return {
    ratio: Number(usageMilli) / Number(targetMilli),
    usageMilli,
    ...overflowOf(total !== usedMilli),
  };
};

const overflowOf = (overflowed: boolean): { readonly overflowed?: true } =>
  overflowed ? { overflowed } : {};

const countedOf = ({ samples }: PerPodInput, groups: PreparedPods): CountedPods => ({
  counted: groups.ready,
  unready: groups.unready.length,
  missing: groups.missing.length,
  stale: groups.stale,
  leftOut: groups.ignored.length,
  unlisted: samples.size - groups.ready,
  ...oldestOf(samples),
});

const oldestOf = (samples: PodSamples): Pick<CountedPods, "oldestMs"> => {
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const { timestampMs } of samples.values())
    if (timestampMs > 0) oldestMs = Math.min(oldestMs, timestampMs);
  return oldestMs === Number.POSITIVE_INFINITY ? {} : { oldestMs };
};

const curveOf = (
  input: PerPodInput,
  groups: PodGroups,
  measure: Measure,
  read: Sums,
  propose: (usedMilli: bigint) => Proposal | Failure,
): Curve => {
  const { over, under } = measure.steps(read);
  const corrected = (assumed: Sums): Corrected => {
    const all = measure.steps(plus(read, assumed)).over;
    return {
      factor: Number(all) / Number(over),
      added: Number(assumed.usedMilli * under) / Number(over),
    };
  };
  return {
    grain: ceilDivided(under, over),
    floor: floorDivided(read.usedMilli * under, over),
    ceil: ceilDivided(read.usedMilli * under, over),
    at: (step) => {
      const proposal = propose(ceilDivided(step * over, under));
      return "message" in proposal ? undefined : proposal;
    },
    bends: () =>
      bendsAround(measure.target, input.tolerance, {
        corrected: [
          corrected(growing(withoutSurge(input, groups), measure)),
          corrected(shrinking(groups, measure)),
        ],
        whole: under === 1n ? 1 : STEPS_OF_PERCENT,
      }),
  };
};
