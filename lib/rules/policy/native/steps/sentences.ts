import { type ConditionReport, conditionOf } from "../../shared/steps.ts";

/** Conditions of the native rules, in one place. */
export const ableToScale = conditionOf("AbleToScale");
export const scalingActive = conditionOf("ScalingActive");
export const scalingLimited = conditionOf("ScalingLimited");

const MISSING = "MetricMissing:";
export const missingType = (metric: string): string => `${MISSING}${metric}`;
export const isMissingType = (type: string): boolean => type.startsWith(MISSING);

/** Why one metric stops a decision, and whether a sentence says so of a metric. */
export const absence = (metric: string, message: string): string =>
  `${metric} is missing: ${message}`;
export const isAbsenceOf = (metric: string, message: string): boolean =>
  message.startsWith(absence(metric, ""));

export const missing = (metric: string, reason: string, message: string): ConditionReport =>
  conditionOf(missingType(metric))("True", reason, message);
