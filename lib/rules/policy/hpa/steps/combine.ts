import type { Measured, Measurement, Unmeasured } from "../../shared/metrics/measurement.ts";
import { stepped, warningEvent, withCondition } from "../../shared/steps.ts";
import { scalingInactive, validMetricFound } from "./sentences.ts";
import type { HpaStep, HpaSync } from "./sync.ts";

/** hpa.md 2.5 steps 4 and 5: the largest proposal wins; where a metric failed, it may only grow. */
export const combine: HpaStep = (sync) => {
  const failures = sync.measurements.filter(
    (measurement): measurement is Unmeasured => measurement.kind === "failed",
  );
  const chosen = largest(sync.measurements);
  // A missing metric could be the one that needs the pods: never shrink without it.
  if (chosen === undefined || (failures.length > 0 && chosen.proposal < sync.current))
    return refused(sync, failures);
  const count = Math.max(0, chosen.proposal);
  return {
    ...stepped(sync, "propose", count),
    conditions: withCondition(sync, validMetricFound(chosen.name)),
    trigger: triggerOf(count, sync.current, chosen.name),
  };
};

/** Of equal maxima the first wins; when every proposal is 0, the last (hpa.md 2.5). */
const largest = (measurements: readonly Measurement[]): Measured | undefined =>
  measurements.reduce<Measured | undefined>((chosen, measurement) => {
    if (measurement.kind === "failed") return chosen;
    return chosen === undefined || chosen.proposal === 0 || measurement.proposal > chosen.proposal
      ? measurement
      : chosen;
  }, undefined);

const triggerOf = (count: number, current: number, name: string): string => {
  if (count > current) return `${name} above target`;
  return count < current ? "All metrics below target" : "";
};

/**
 * A spec without metrics is none that admission lets through. It says nothing, so it fails like one
 * without an answer.
 */
const NONE: Pick<Unmeasured, "reason" | "message" | "chain"> = {
  reason: "InvalidMetrics",
  message: "there is no metric",
  chain: "there is no metric",
};

const refused = (sync: HpaSync, failures: readonly Unmeasured[]): HpaSync => {
  const [first = NONE] = failures;
  const condition = scalingInactive(
    first.reason,
    `the HPA was unable to compute the replica count: ${first.message}`,
  );
  const message = `invalid metrics (${failures.length} invalid out of ${sync.measurements.length}), first error is: ${first.chain}`;
  return {
    ...sync,
    conditions: withCondition(sync, condition),
    events: [...sync.events, warningEvent("FailedComputeMetricsReplicas", message)],
    ending: { kind: "failed", because: { reason: condition.reason, message: condition.message } },
  };
};
