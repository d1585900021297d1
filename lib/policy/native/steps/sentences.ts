import type { ConditionReport } from "../../shared/steps.ts";

/** Conditions of the native rules, in one place. */
const condition =
  (type: string) =>
  (status: ConditionReport["status"], reason: string, message: string): ConditionReport => ({ type, status, reason, message });

export const ableToScale = condition("AbleToScale");
export const scalingActive = condition("ScalingActive");
export const scalingLimited = condition("ScalingLimited");

export const BREACH = { up: "BreachAbove", down: "BreachBelow" } as const;

export const breach = (direction: keyof typeof BREACH, status: ConditionReport["status"]): ConditionReport => ({
  type: BREACH[direction],
  status,
  reason: status === "True" ? "Breached" : status === "False" ? "Within" : "NotMeasured",
  message:
    status === "Unknown"
      ? "the metrics were not looked at, so that a breach is not known to last"
      : `the metrics ${status === "True" ? "ask" : "do not ask"} for ${direction === "up" ? "more" : "fewer"} pods`,
});

export const IDLE = "Idle";
export const idle = (status: ConditionReport["status"]): ConditionReport => ({
  type: IDLE,
  status,
  reason: status === "True" ? "BelowActivation" : status === "False" ? "InUse" : "NotMeasured",
  message:
    status === "True"
      ? "every metric with an activation threshold is at or below it"
      : status === "False"
        ? "a metric is above its activation threshold"
        : "a metric with an activation threshold is missing",
});

const MISSING = "MetricMissing:";
export const missingType = (metric: string): string => `${MISSING}${metric}`;
export const isMissingType = (type: string): boolean => type.startsWith(MISSING);

/** Types of the conditions by which these rules measure time. */
const TIMED: ReadonlySet<string> = new Set([BREACH.up, BREACH.down, IDLE]);
export const isTimed = (type: string): boolean => TIMED.has(type) || isMissingType(type);

/** Why one metric stops a decision, and whether a sentence says so of a metric. */
export const absence = (metric: string, message: string): string => `${metric} is missing: ${message}`;
export const isAbsenceOf = (metric: string, message: string): boolean => message.startsWith(absence(metric, ""));

export const missing = (metric: string, reason: string, message: string): ConditionReport => ({
  type: missingType(metric),
  status: "True",
  reason,
  message,
});
