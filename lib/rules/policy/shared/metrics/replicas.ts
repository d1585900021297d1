import type { Pod } from "../../../model/observation.ts";
import { type Failure, failure } from "../../../sources/source.ts";
import { BEYOND_I64, ceilI32, isInside, MAX_I32, toI64, wrapI64 } from "../arithmetic.ts";
import { isMended } from "../../../model/spec-common.ts";
import { bendsAround, ceilDivided, type Curve, floorDivided } from "./curve.ts";
import type { MetricContext, Proposal } from "./measurement.ts";
import { MAX_I64 } from "../../../model/quantity-parse.ts";

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
    own,
    readiness,
  }: Pick<MetricContext, "currentReplicas" | "tolerance" | "pods" | "own" | "readiness">,
): Proposal | Failure => {
  const ratio = Number(totalMilli) / Number(targetMilli);
  const proposal = (replicas: number): Proposal => ({
    kind: "proposal",
    replicas,
    usageMilli: totalMilli,
    ratio,
  });
  if (currentReplicas === 0) return proposal(ceilI32(ratio, readiness));
  if (isInside(ratio, tolerance)) return proposal(currentReplicas);
  if (pods.length === 0)
    return failure(
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    );
  const ready = readyPods(pods);
  // A surge raises no count (per-pod.ts).
  const most = own && ratio > 1 ? Math.max(1, own.wanted) : ready;
  const replicas = ratio * Math.min(ready, most);
  return proposal(replicas > MAX_I32 ? MAX_I32 : ceilI32(replicas, readiness));
};

/** Pods that are being deleted count as long as they are ready (hpa.md 3.6). */
const readyPods = (pods: readonly Pod[]): number =>
  pods.filter(({ phase, ready }) => phase === "Running" && ready?.status === "True").length;

/**
 * hpa.md 3.7: the value shared by the replicas that the scale's status counts; pods are never
 * looked at. External values are saturated where they leave 32 and 64 bits; metrics of Object wrap
 * before 1.38. Since 1.38 no replicas share nothing.
 */
export const perReplicaReplicas = (
  totalMilli: bigint,
  targetMilli: bigint,
  {
    statusReplicas,
    tolerance,
    readiness,
  }: Pick<MetricContext, "statusReplicas" | "tolerance" | "readiness">,
  overflow: "saturated" | "wrapping",
): Proposal => {
  const mended = isMended(readiness);
  const saturate = mended || overflow === "saturated";
  const total = Number(totalMilli);
  const ratio = total / (Number(targetMilli) * statusReplicas);
  const shared = mended && statusReplicas === 0 ? 0n : toI64(Math.ceil(total / statusReplicas));
  const usageMilli = saturate && total >= BEYOND_I64 ? MAX_I64 : shared;
  if (isInside(ratio, tolerance))
    return { kind: "proposal", replicas: statusReplicas, usageMilli, ratio, inside: true };
  const wanted = Math.ceil(total / Number(targetMilli));
  return {
    kind: "proposal",
    replicas: saturate && wanted > MAX_I32 ? MAX_I32 : ceilI32(wanted, readiness),
    usageMilli,
    ratio,
  };
};

/** What any total would propose, against a target of type Value. */
export const totalCurve = (
  totalMilli: bigint,
  targetMilli: bigint,
  context: Parameters<typeof totalReplicas>[2],
): Curve => ({
  floor: totalMilli,
  ceil: totalMilli,
  at: (step) => {
    const outcome = totalReplicas(step, targetMilli, context);
    return "message" in outcome ? undefined : outcome;
  },
  bends: () => bendsAround(Number(targetMilli), context.tolerance),
});

/** What any total would propose, shared by the replicas; nothing without replicas to share it. */
export const sharedCurve = (
  totalMilli: bigint,
  targetMilli: bigint,
  ...[context, overflow]: readonly [
    Parameters<typeof perReplicaReplicas>[2],
    Parameters<typeof perReplicaReplicas>[3],
  ]
): { readonly curve?: () => Curve } =>
  context.statusReplicas > 0
    ? { curve: () => perReplicaCurve(totalMilli, targetMilli, context, overflow) }
    : {};

const perReplicaCurve = (
  totalMilli: bigint,
  targetMilli: bigint,
  ...[context, overflow]: readonly [
    Parameters<typeof perReplicaReplicas>[2],
    Parameters<typeof perReplicaReplicas>[3],
  ]
): Curve => {
  const replicas = BigInt(context.statusReplicas);
  return {
    floor: floorDivided(totalMilli, replicas),
    ceil: ceilDivided(totalMilli, replicas),
    at: (step) => perReplicaReplicas(step * replicas, targetMilli, context, overflow),
    bends: () => bendsAround(Number(targetMilli), context.tolerance),
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
