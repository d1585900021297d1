import type { Condition } from "../../model/windows.ts";

export type ConditionReport = Omit<Condition, "transitionMs">;

/**
 * Reports one condition: in place, or at the end when its type is new. The transition moves with the status only; reason and message are overwritten every time
 * (hpa.md 2.7).
 */
export const setCondition = (conditions: readonly Condition[], report: ConditionReport, nowMs: number): readonly Condition[] => {
  const known = conditions.findIndex(({ type }) => type === report.type);
  if (known < 0) return [...conditions, { ...report, transitionMs: nowMs }];
  const before = conditions[known];
  // At rest nothing changes, and the list stays the one that was stored.
  if (before?.status === report.status && before.reason === report.reason && before.message === report.message) return conditions;
  const transitionMs = before?.status === report.status ? before.transitionMs : nowMs;
  return conditions.with(known, { ...report, transitionMs });
};

/** True when the condition is there and has status True. */
export const isTrue = (conditions: readonly Condition[], type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === "True");

/** Whether the autoscaler itself put the workload to zero: rules that remember it wake no other zero (hpa.md 2.4 step 4). */
export const scaledToZero = (zero: boolean): ConditionReport =>
  zero
    ? { type: "ScaledToZero", status: "True", reason: "ScaledToZero", message: "the HPA controller scaled the workload to zero" }
    : { type: "ScaledToZero", status: "False", reason: "NotScaledToZero", message: "the HPA controller did not scale the workload to zero" };

/** Since when a condition has been true, and the first instant at which that is long enough. */
export interface Lasting {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What must last `seconds` before it counts; `undefined` while the condition is not true. */
export const lastingOf = (conditions: readonly Condition[], type: string, seconds: number): Lasting | undefined => {
  const sinceMs = conditions.find((condition) => condition.type === type && condition.status === "True")?.transitionMs;
  return sinceMs === undefined ? undefined : { sinceMs, untilMs: sinceMs + seconds * 1000 };
};
