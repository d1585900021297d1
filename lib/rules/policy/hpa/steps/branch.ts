import { isTrue, stepped, withCondition } from "../../shared/steps.ts";
import type { HpaSpec } from "../../../model/spec-hpa.ts";
import { SCALING_DISABLED } from "./sentences.ts";
import type { HpaStep, HpaSync } from "./sync.ts";

const ABOVE_MAX = "Current number of replicas above Spec.MaxReplicas";
const BELOW_MIN = "Current number of replicas below Spec.MinReplicas";

/**
 * hpa.md 2.4 step 4: a workload at zero that this autoscaler did not put there is left alone; a
 * count outside [min, max] goes to the bound without metrics, windows and rates.
 */
export const branch: HpaStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const { current } = sync;
  if (current === 0 && !isResumable(sync)) {
    const { reason, message } = SCALING_DISABLED;
    return {
      ...sync,
      conditions: withCondition(sync, SCALING_DISABLED),
      ending: { kind: "settled", because: { reason, message } },
    };
  }
  if (current > maxReplicas) return toBound(sync, maxReplicas, "AboveMaxReplicas", ABOVE_MAX);
  if (current > 0 && current < minReplicas)
    return toBound(sync, minReplicas, "BelowMinReplicas", BELOW_MIN);
  return sync;
};

/**
 * A count of zero is scaled up again only if this autoscaler had scaled to zero, and something can
 * still wake it.
 */
const isResumable = ({ input: { spec }, conditions }: HpaSync): boolean =>
  isTrue(conditions, "ScaledToZero") && (spec.minReplicas !== 0 || mayWake(spec));

/** True where a metric has a value also without any pod. */
export const mayWake = ({ metrics }: HpaSpec): boolean =>
  metrics.some(({ type }) => type === "Object" || type === "External");

const toBound = (sync: HpaSync, bound: number, reason: string, trigger: string): HpaSync => {
  const message = `${trigger}: ${sync.current} is outside ${sync.input.spec.minReplicas} to ${sync.input.spec.maxReplicas}`;
  const limit = { reason, value: bound, message };
  return {
    ...stepped(sync, "bounds", bound, limit),
    trigger,
    ending: { kind: "settled", because: { reason, message } },
  };
};

/**
 * hpa.md 2.4 step 5: a workload that was scaled to zero comes back with at least minReplicas, if
 * that was raised meanwhile. A zero that this autoscaler did not make ended the sync at the branch;
 * other counts are below it only where numbers overflow, and stay as the controller has them.
 */
export const resumeFromZero: HpaStep = (sync) => {
  const { minReplicas } = sync.input.spec;
  if (sync.current > 0 || sync.count >= minReplicas) return sync;
  const bound = { reason: "BelowMinReplicas", value: minReplicas, message: BELOW_MIN };
  return { ...stepped(sync, "resume", minReplicas, bound), trigger: sync.trigger || BELOW_MIN };
};
