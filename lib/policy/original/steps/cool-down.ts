import { READY_FOR_NEW_SCALE } from "../../hpa/steps/sentences.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import type { ConditionReport } from "../../shared/conditions.ts";
import { type ForbiddenWindows, forbiddenWindows } from "../../shared/forbidden.ts";
import { stepped, withCondition } from "../../shared/steps.ts";

/** Time after a scale in either direction in which nothing is added, or taken away (proposals.md §1). */
const FORBIDDEN = { upMs: 3 * 60_000, downMs: 5 * 60_000 };

/** The end of a window itself is closed still. */
const closedUntilMs = (lastScaleMs: number | undefined, forbiddenMs: number, nowMs: number): number | undefined =>
  lastScaleMs === undefined || nowMs - lastScaleMs > forbiddenMs ? undefined : lastScaleMs + forbiddenMs;

export const forbiddenOf = (lastScaleMs: number | undefined, nowMs: number): ForbiddenWindows =>
  forbiddenWindows(FORBIDDEN, lastScaleMs, nowMs, closedUntilMs);

/** proposals.md §1: the windows begin at the last scale, whichever way it went, and live in the store like any other. */
export const coolDown: HpaStep = (sync) => {
  const { windows, nowMs } = sync.input;
  const { current, count } = sync;
  const rising = count > current;
  const { up, down } = forbiddenOf(windows.status.lastScaleMs, nowMs);
  const window = rising ? up : count < current ? down : undefined;
  const untilMs = window?.untilMs;
  if (untilMs === undefined) return { ...stepped(sync, "cool down", count), conditions: withCondition(sync, READY_FOR_NEW_SCALE) };
  const report: ConditionReport = {
    type: "AbleToScale",
    status: "False",
    reason: rising ? "BackoffUpscale" : "BackoffDownscale",
    message: `the time since the previous scale is still within the ${rising ? "upscale" : "downscale"} forbidden window`,
  };
  const limit = { reason: report.reason, value: current, message: report.message, untilMs };
  return { ...stepped(sync, "cool down", current, limit), conditions: withCondition(sync, report) };
};
