import type { ConditionReport } from "../../shared/steps.ts";

/** Conditions of the native rules, in one place. */
const condition =
  (type: string) =>
  (status: ConditionReport["status"], reason: string, message: string): ConditionReport => ({ type, status, reason, message });

export const ableToScale = condition("AbleToScale");
export const scalingActive = condition("ScalingActive");
export const scalingLimited = condition("ScalingLimited");

const MISSING = "MetricMissing:";
export const missingType = (metric: string): string => `${MISSING}${metric}`;
export const isMissingType = (type: string): boolean => type.startsWith(MISSING);

/** Why one metric stops a decision, and whether a sentence says so of a metric. */
export const absence = (metric: string, message: string): string => `${metric} is missing: ${message}`;
export const isAbsenceOf = (metric: string, message: string): boolean => message.startsWith(absence(metric, ""));

export const missing = (metric: string, reason: string, message: string): ConditionReport => ({
  type: missingType(metric),
  status: "True",
  reason,
  message,
});
