import type { Pod } from "../../../model/observation.ts";
import { type Failure, failure, type PodSamples } from "../../../sources/source.ts";
import { toI32, wrapI32, wrapI64, BEYOND_I64, MAX_I32, toI64, isInside } from "../arithmetic.ts";
import { groupPods, type PodGroups, type Proposal, type MetricContext } from "./measurement.ts";
import { type Requests, requestsOf } from "./requests.ts";
import { MAX_I64 } from "../../../model/quantity-parse.ts";

/**
 * One metric that is measured pod by pod. The samples are used up: what is assumed for missing pods
 * is written into them.
 */
export interface PerPodInput
  extends Pick<MetricContext, "currentReplicas" | "tolerance" | "pods" | "readiness"> {
  readonly samples: PodSamples;
  /** Empty for Pods metrics. */
  readonly resource: string;
}

type Ratio = Omit<Proposal, "kind" | "replicas">;

/**
 * How one kind of target turns samples into a ratio, and what it assumes for a pod that gave none
 * while the others ask for less.
 */
interface Measure {
  readonly ratioOf: (samples: PodSamples) => Ratio | Failure;
  readonly assumedWhenShrinking: (pod: string) => bigint;
}

/** hpa.md 3.3: target in percent of what the pods request. */
export const utilizationReplicas = (
  input: PerPodInput,
  targetPercent: number,
  container: string | undefined,
): Proposal | Failure => {
  const groups = prepare(input);
  if ("message" in groups) return groups;
  const requests = requestsOf(input.pods, input.resource, container);
  if ("message" in requests) return requests;
  // A pod that reports nothing is taken to use all that it requests, or all of a target above that:
  // shrinking must not come from silence.
  const assumedPercent = BigInt(Math.max(100, targetPercent));
  return propose(input, groups, {
    ratioOf: (samples) => utilizationRatio(samples, requests, targetPercent),
    assumedWhenShrinking: (pod) => wrapI64((requests.get(pod) ?? 0n) * assumedPercent) / 100n,
  });
};

/** hpa.md 3.4: target as an amount per pod. */
export const averageReplicas = (input: PerPodInput, targetMilli: bigint): Proposal | Failure => {
  const groups = prepare(input);
  if ("message" in groups) return groups;
  return propose(input, groups, {
    ratioOf: (samples) => averageRatio(samples, targetMilli),
    assumedWhenShrinking: () => targetMilli,
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

const propose = (input: PerPodInput, groups: PodGroups, measure: Measure): Proposal | Failure => {
  const first = measure.ratioOf(input.samples);
  if ("message" in first) return first;
  const unreadyCount = groups.unready.length > 0 && first.ratio > 1;
  // Without anything to assume there is no guard against a step in the other direction: upstream
  // relies on that during a surge (hpa.md 3.3).
  if (!unreadyCount && groups.missing.length === 0) {
    const replicas = isInside(first.ratio, input.tolerance)
      ? input.currentReplicas
      : toI32(Math.ceil(first.ratio * groups.ready));
    return { ...first, kind: "proposal", replicas };
  }
  assume(input.samples, groups, first.ratio, measure);
  const second = measure.ratioOf(input.samples);
  if ("message" in second) return second;
  return {
    ...first,
    ...overflowOf(second.overflowed === true),
    kind: "proposal",
    replicas: dampened(input, first.ratio, second.ratio),
  };
};

const assume = (
  samples: PodSamples,
  { missing, unready }: PodGroups,
  ratio: number,
  measure: Measure,
): void => {
  const assumed = (milli: bigint) => ({ milli, timestampMs: 0, windowMs: 0 });
  if (ratio < 1)
    for (const pod of missing) samples.set(pod, assumed(measure.assumedWhenShrinking(pod)));
  if (ratio > 1) for (const pod of [...missing, ...unready]) samples.set(pod, assumed(0n));
};

/** What was assumed may weaken a change, never turn it round. */
const dampened = (
  { currentReplicas, samples, tolerance }: PerPodInput,
  before: number,
  after: number,
): number => {
  const turned = (before < 1 && after > 1) || (before > 1 && after < 1);
  if (isInside(after, tolerance) || turned) return currentReplicas;
  const replicas = toI32(Math.ceil(after * samples.size));
  const crossed =
    (after < 1 && replicas > currentReplicas) || (after > 1 && replicas < currentReplicas);
  return crossed ? currentReplicas : replicas;
};

/** Whole percent, cut off before the ratio is formed (hpa.md 3.3). */
const utilizationRatio = (
  samples: PodSamples,
  requests: Requests,
  targetPercent: number,
): Ratio | Failure => {
  let used = 0n;
  let requested = 0n;
  let entries = 0n;
  for (const [pod, { milli }] of samples) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += milli;
    requested += request;
    entries++;
  }
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
    usageMilli: usedTotal / entries,
    ...overflowOf(overflowed),
  };
};

/** The mean is over all samples, also samples of pods that are not listed (hpa.md 3.4). */
const averageRatio = (samples: PodSamples, targetMilli: bigint): Ratio => {
  let total = 0n;
  for (const { milli } of samples.values()) total += milli;
  const usageMilli = wrapI64(total) / BigInt(samples.size);
  return {
    ratio: Number(usageMilli) / Number(targetMilli),
    usageMilli,
    ...overflowOf(wrapI64(total) !== total),
  };
};

const overflowOf = (overflowed: boolean): { readonly overflowed?: true } =>
  overflowed ? { overflowed } : {};

/**
 * hpa.md 3.6: the whole value against a target, scaled by the pods that are ready; from zero
 * straight to what the value asks for.
 */
export const totalReplicas = (
  totalMilli: bigint,
  targetMilli: bigint,
  {
    currentReplicas,
    tolerance,
    pods,
  }: Pick<MetricContext, "currentReplicas" | "tolerance" | "pods">,
): Proposal | Failure => {
  const ratio = Number(totalMilli) / Number(targetMilli);
  const proposal = (replicas: number): Proposal => ({
    kind: "proposal",
    replicas,
    usageMilli: totalMilli,
    ratio,
  });
  if (currentReplicas === 0) return proposal(toI32(Math.ceil(ratio)));
  if (isInside(ratio, tolerance)) return proposal(currentReplicas);
  if (pods.length === 0)
    return failure(
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    );
  const replicas = ratio * readyPods(pods);
  return proposal(replicas > MAX_I32 ? MAX_I32 : toI32(Math.ceil(replicas)));
};

/** Pods that are being deleted count as long as they are ready (hpa.md 3.6). */
const readyPods = (pods: readonly Pod[]): number =>
  pods.filter(({ phase, ready }) => phase === "Running" && ready?.status === "True").length;

/**
 * hpa.md 3.7: the value shared by the replicas that the scale's status counts; pods are never
 * looked at. External values are saturated where they leave 32 and 64 bits, metrics of Object wrap.
 */
export const perReplicaReplicas = (
  totalMilli: bigint,
  targetMilli: bigint,
  { statusReplicas, tolerance }: Pick<MetricContext, "statusReplicas" | "tolerance">,
  overflow: "saturated" | "wrapping",
): Proposal => {
  const saturate = overflow === "saturated";
  const total = Number(totalMilli);
  const ratio = total / (Number(targetMilli) * statusReplicas);
  const usageMilli =
    saturate && total >= BEYOND_I64 ? MAX_I64 : toI64(Math.ceil(total / statusReplicas));
  if (isInside(ratio, tolerance))
    return { kind: "proposal", replicas: statusReplicas, usageMilli, ratio };
  const wanted = Math.ceil(total / Number(targetMilli));
  return {
    kind: "proposal",
    replicas: saturate && wanted > MAX_I32 ? MAX_I32 : toI32(wanted),
    usageMilli,
    ratio,
  };
};

/**
 * hpa.md 3.6: sum for a target of type Value; what would exceed 64 bits stops at the largest
 * number.
 */
export const saturatedTotal = (values: readonly bigint[]): bigint => {
  let total = 0n;
  for (const value of values) {
    if (total > MAX_I64 - value) return MAX_I64;
    total = wrapI64(total + value);
  }
  return total;
};

/**
 * hpa.md 3.7: sum for a target of type AverageValue; anything negative on the way is taken for an
 * overflow.
 */
export const nonNegativeTotal = (values: readonly bigint[]): bigint => {
  let total = 0n;
  for (const value of values) {
    total = wrapI64(total + value);
    if (total < 0n) return MAX_I64;
  }
  return total;
};
