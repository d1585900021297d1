import { READY_FOR_NEW_SCALE } from "../../hpa/steps/sentences.ts";
import { type HpaStep, stepped, withCondition } from "../../hpa/steps/sync.ts";
import type { ConditionReport } from "../../shared/conditions.ts";

/** Time after a scale in either direction in which nothing is added, or taken away (proposals.md §1). */
export const UPSCALE_FORBIDDEN_MS = 3 * 60_000;
export const DOWNSCALE_FORBIDDEN_MS = 5 * 60_000;

/** Until when a window is closed, or undefined while it is open: its end itself is closed still. */
export const closedUntilMs = (lastScaleMs: number | undefined, forbiddenMs: number, nowMs: number): number | undefined =>
  lastScaleMs === undefined || nowMs - lastScaleMs > forbiddenMs ? undefined : lastScaleMs + forbiddenMs;

/** proposals.md §1: the windows begin at the last scale, whichever way it went, and live in the store like any other. */
export const coolDown: HpaStep = (sync) => {
  const { windows, nowMs } = sync.input;
  const { current, count } = sync;
  const up = count > current;
  const untilMs = closedUntilMs(windows.status.lastScaleMs, up ? UPSCALE_FORBIDDEN_MS : DOWNSCALE_FORBIDDEN_MS, nowMs);
  if (count === current || untilMs === undefined)
    return { ...sync, conditions: withCondition(sync, READY_FOR_NEW_SCALE), steps: stepped(sync, "cool down", count) };
  const report: ConditionReport = {
    type: "AbleToScale",
    status: "False",
    reason: up ? "BackoffUpscale" : "BackoffDownscale",
    message: `the time since the previous scale is still within the ${up ? "upscale" : "downscale"} forbidden window`,
  };
  const limit = { reason: report.reason, value: current, message: report.message, untilMs };
  return { ...sync, conditions: withCondition(sync, report), count: current, steps: stepped(sync, "cool down", current, limit) };
};
