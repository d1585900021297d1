import type { ConditionReport } from "./conditions.ts";

/** Whether the autoscaler itself put the workload to zero: rules that remember it wake no other zero (hpa.md 2.4 step 4). */
export const scaledToZero = (zero: boolean): ConditionReport =>
  zero
    ? { type: "ScaledToZero", status: "True", reason: "ScaledToZero", message: "the HPA controller scaled the workload to zero" }
    : { type: "ScaledToZero", status: "False", reason: "NotScaledToZero", message: "the HPA controller did not scale the workload to zero" };
