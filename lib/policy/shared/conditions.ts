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
  const transitionMs = before?.status === report.status ? before.transitionMs : nowMs;
  return conditions.with(known, { ...report, transitionMs });
};

/** True when the condition is there and has status True. */
export const isTrue = (conditions: readonly Condition[], type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === "True");
