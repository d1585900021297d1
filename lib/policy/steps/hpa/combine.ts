import type { Measured, Measurement, Unmeasured } from "../../metrics/hpa/measurement.ts";
import { scalingInactive, validMetricFound } from "./sentences.ts";
import { type HpaStep, type HpaSync, stepped, warning, withCondition } from "./sync.ts";

/** hpa.md 2.5 steps 4 and 5: the largest proposal wins; where a metric failed, it may only grow. */
export const combine: HpaStep = (sync) => {
  const failures = sync.measurements.filter((measurement): measurement is Unmeasured => measurement.kind === "failed");
  const chosen = largest(sync.measurements);
  const [first] = failures;
  // A missing metric could be the one that needs the pods: never shrink without it.
  if (first && (chosen === undefined || chosen.proposal < sync.current)) return refused(sync, first, failures.length);
  const proposal = chosen?.proposal ?? 0;
  const count = Math.max(0, proposal);
  const name = proposal > 0 ? (chosen?.name ?? "") : "";
  return {
    ...sync,
    conditions: withCondition(sync, validMetricFound(chosen?.name ?? "")),
    count,
    trigger: triggerOf(count, sync.current, name),
    steps: stepped(sync, "propose", count),
  };
};

/** The first with the maximum, but of nothing but zeros the last (hpa.md 2.5). */
const largest = (measurements: readonly Measurement[]): Measured | undefined =>
  measurements.reduce<Measured | undefined>((chosen, measurement) => {
    if (measurement.kind === "failed") return chosen;
    return chosen === undefined || chosen.proposal === 0 || measurement.proposal > chosen.proposal ? measurement : chosen;
  }, undefined);

const triggerOf = (count: number, current: number, name: string): string => {
  if (count > current) return `${name} above target`;
  return count < current ? "All metrics below target" : "";
};

const refused = (sync: HpaSync, first: Unmeasured, failed: number): HpaSync => {
  const condition = scalingInactive(first.reason, `the HPA was unable to compute the replica count: ${first.message}`);
  const message = `invalid metrics (${failed} invalid out of ${sync.measurements.length}), first error is: ${first.chain}`;
  return {
    ...sync,
    conditions: withCondition(sync, condition),
    events: [...sync.events, warning("FailedComputeMetricsReplicas", message)],
    ending: { kind: "failed", because: { reason: condition.reason, message: condition.message } },
  };
};
