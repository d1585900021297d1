import { stepped } from "../../shared/steps.ts";
import { BELOW_MIN } from "./branch.ts";
import type { HpaStep } from "./sync.ts";

/**
 * hpa.md 2.4 step 5: a workload that was scaled to zero comes back with at least minReplicas, if that was raised meanwhile. A zero that this autoscaler did not make ended the sync at the
 * branch; other counts are below it only where numbers overflow, and stay as the controller has them.
 */
export const resumeFromZero: HpaStep = (sync) => {
  const { minReplicas } = sync.input.spec;
  if (sync.current > 0 || sync.count >= minReplicas) return sync;
  const bound = { reason: "BelowMinReplicas", value: minReplicas, message: BELOW_MIN };
  return { ...stepped(sync, "resume", minReplicas, bound), trigger: sync.trigger || BELOW_MIN };
};
