import { isTrue } from "../../conditions.ts";
import { BELOW_MIN } from "./branch.ts";
import { type HpaStep, stepped } from "./sync.ts";

/** hpa.md 2.4 step 5: a workload that was scaled to zero comes back with at least minReplicas, if that was raised meanwhile. */
export const resumeFromZero: HpaStep = (sync) => {
  const { minReplicas } = sync.input.spec;
  const resumes = sync.current === 0 && minReplicas !== 0 && isTrue(sync.conditions, "ScaledToZero") && sync.count < minReplicas;
  if (!resumes) return sync;
  const bound = { reason: "BelowMinReplicas", value: minReplicas, message: BELOW_MIN };
  return { ...sync, count: minReplicas, trigger: sync.trigger || BELOW_MIN, steps: stepped(sync, "resume", minReplicas, bound) };
};
