import type { Windows } from "../../../model/windows.ts";
import type { ConditionReport } from "../../conditions.ts";

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

/** Conditions that these rules measure time by. Under other rules nobody keeps them, so that they would tell of long ago. */
const TIMED: ReadonlySet<string> = new Set([BREACH.up, BREACH.down, IDLE]);
const isTimed = ({ type }: { readonly type: string }): boolean => TIMED.has(type) || isMissingType(type);

/** The windows as other rules get them. */
export const withoutTimed = (windows: Windows): Windows => {
  const { conditions } = windows.status;
  return conditions.some(isTimed) ? { ...windows, status: { ...windows.status, conditions: conditions.filter((one) => !isTimed(one)) } } : windows;
};

export const missing = (metric: string, reason: string, message: string): ConditionReport => ({
  type: missingType(metric),
  status: "True",
  reason,
  message,
});
