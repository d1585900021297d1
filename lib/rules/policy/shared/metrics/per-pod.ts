import { type Failure, failure, type PodSamples } from "../../../sources/source.ts";
import { isInside, toI32, wrapI32, wrapI64 } from "../arithmetic.ts";
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
  extends Pick<MetricContext, "currentReplicas" | "tolerance" | "pods" | "readiness"> {
  readonly samples: PodSamples;
  /** Empty for Pods metrics. */
  readonly resource: string;
}

/** A proposal with the pods behind it, and with what another value would propose. */
export interface PerPodProposal {
  readonly kind: "proposed";
  readonly proposal: Proposal;
  readonly counted: CountedPods;
  readonly curve: Curve;
}

/** What some samples add up to. */
interface Sums {
  readonly usedMilli: bigint;
  /** Of the samples whose pods are listed; 0 where requests are not looked at. */
  readonly requestedMilli: bigint;
  readonly requesting: bigint;
  readonly samples: number;
}

const NOTHING: Sums = { usedMilli: 0n, requestedMilli: 0n, requesting: 0n, samples: 0 };

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
  const requests = requestsOf(input.pods, input.resource, container);
  if ("message" in requests) return requests;
  // A pod that reports nothing is taken to use all that it requests, or all of a target above that:
  // shrinking must not come from silence.
  const assumedPercent = Math.max(100, targetPercent);
  return proposeFor(input, groups, {
    requests,
    ratioOf: (sums) => utilizationRatio(sums, targetPercent),
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
    ratioOf: (sums) => averageRatio(sums, targetMilli),
    assumedWhenShrinking: () => targetMilli,
    assumedAs: "the target",
    steps: ({ samples }) => ({ over: BigInt(samples), under: 1n }),
    target: Number(targetMilli),
  });
};

const prepare = ({ pods, samples, resource, readiness }: PerPodInput): PodGroups | Failure => {
  if (pods.length === 0)
    return failure("no pods returned by selector while calculating replica count");
  const groups = groupPods(pods, samples, resource, readiness);
  for (const pod of groups.ignored) samples.delete(pod);
  for (const pod of groups.unready) samples.delete(pod);
  return samples.size === 0
    ? failure("did not receive metrics for targeted pods (pods might be unready)")
    : groups;
};

const proposeFor = (
  input: PerPodInput,
  groups: PodGroups,
  measure: Measure,
): PerPodProposal | Failure => {
  const read = sumsOf(input.samples.keys(), (pod) => input.samples.get(pod)?.milli ?? 0n, measure);
  const propose = proposer(input, groups, measure, read);
  const proposal = propose(read.usedMilli);
  if ("message" in proposal) return proposal;
  return {
    kind: "proposed",
    proposal,
    counted: countedOf(input, groups),
    curve: curveOf(input, groups, measure, read, propose),
  };
};

/** Without requests every sample counts; with them, a sample of a pod that is listed. */
const sumsOf = (
  pods: Iterable<string>,
  usedBy: (pod: string) => bigint,
  { requests }: Measure,
): Sums => {
  let [usedMilli, requestedMilli, requesting] = [0n, 0n, 0n];
  let samples = 0;
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
    // Without anything to assume there is no guard against a step in the other direction: upstream
    // relies on that during a surge (hpa.md 3.3).
    const hasUnready = groups.unready.length > 0 && first.ratio > 1;
    if (hasUnready || groups.missing.length > 0)
      return withAssumed(input, groups, measure, { sums, first });
    const replicas = isInside(first.ratio, input.tolerance)
      ? input.currentReplicas
      : toI32(Math.ceil(first.ratio * groups.ready));
    return { ...first, kind: "proposal", replicas };
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
const dampened = (
  { currentReplicas, tolerance }: PerPodInput,
  before: number,
  after: number,
  samples: number,
): number => {
  const turned = (before < 1 && after > 1) || (before > 1 && after < 1);
  if (isInside(after, tolerance) || turned) return currentReplicas;
  const replicas = toI32(Math.ceil(after * samples));
  const crossed =
    (after < 1 && replicas > currentReplicas) || (after > 1 && replicas < currentReplicas);
  return crossed ? currentReplicas : replicas;
};

/** Whole percent, cut off before the ratio is formed (hpa.md 3.3). */
const utilizationRatio = (
  { usedMilli: used, requestedMilli: requested, requesting }: Sums,
  targetPercent: number,
): Ratio | Failure => {
  const requestedTotal = wrapI64(requested);
  if (requestedTotal === 0n) return failure("no metrics returned matched known pods");
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
    usageMilli: usedTotal / requesting,
    ...overflowOf(overflowed),
  };
};

/** The mean is over all samples, also samples of pods that are not listed (hpa.md 3.4). */
const averageRatio = ({ usedMilli, samples }: Sums, targetMilli: bigint): Ratio => {
  const usageMilli = wrapI64(usedMilli) / BigInt(samples);
  return {
    ratio: Number(usageMilli) / Number(targetMilli),
    usageMilli,
    ...overflowOf(wrapI64(usedMilli) !== usedMilli),
  };
};

const overflowOf = (overflowed: boolean): { readonly overflowed?: true } =>
  overflowed ? { overflowed } : {};

const countedOf = ({ samples }: PerPodInput, groups: PodGroups): CountedPods => ({
  counted: groups.ready,
  unready: groups.unready.length,
  missing: groups.missing.length,
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
  { tolerance }: PerPodInput,
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
      bendsAround(measure.target, tolerance, {
        corrected: [corrected(growing(groups, measure)), corrected(shrinking(groups, measure))],
        whole: under === 1n ? 1 : STEPS_OF_PERCENT,
      }),
  };
};
