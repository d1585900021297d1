import type { Condition } from "../../../model/windows.ts";
import type { ConditionReport } from "../../shared/conditions.ts";

/**
 * Newest transition first (watermark.md 2.3). The original's clock moves on inside a sync, so of the transitions of one sync the last is the newest; a condition that kept its
 * status keeps its place among its equals.
 */
export const newestFirst = (conditions: readonly Condition[], report: ConditionReport, nowMs: number): readonly Condition[] => {
  const before = conditions.find(({ type }) => type === report.type);
  const kept = before?.status === report.status;
  const condition: Condition = { ...report, transitionMs: kept ? before.transitionMs : nowMs };
  const all = kept
    ? conditions.map((known) => (known === before ? condition : known))
    : [condition, ...conditions.filter((known) => known !== before)];
  return all.toSorted((one, other) => other.transitionMs - one.transitionMs);
};
