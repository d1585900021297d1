import type { Condition } from "../../model/windows.ts";

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
