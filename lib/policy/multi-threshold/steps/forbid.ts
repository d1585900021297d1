import type { Thresholds } from "../../../model/spec-hpa.ts";
import { READY_FOR_NEW_SCALE } from "../../hpa/steps/sentences.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import { backoff, forbiddenSentence, type ForbiddenWindows, forbiddenWindows, wholeSeconds } from "../../shared/forbidden.ts";
import { stepped, withCondition } from "../../shared/steps.ts";

/** A scale of either direction closes both forbidden windows; a window of 0 s forbids nothing (proposals.md §5). */
export const forbid: HpaStep = (sync) => {
  const { spec, windows, nowMs } = sync.input;
  const { current, count } = sync;
  const { lastScaleMs } = windows.status;
  if (!spec.thresholds || lastScaleMs === undefined) return sync;
  const { up, down } = forbiddenOf(spec.thresholds, lastScaleMs, nowMs);
  const [upClosed, downClosed] = [up.untilMs !== undefined, down.untilMs !== undefined];
  const conditioned = upClosed || downClosed ? { ...sync, conditions: withCondition(sync, backoff(downClosed, upClosed)) } : sync;
  const rising = count > current;
  const { untilMs } = rising ? up : down;
  if (count === current) return stepped(conditioned, "forbidden windows", count);
  if (untilMs === undefined) {
    return { ...stepped(sync, "forbidden windows", count), conditions: withCondition(sync, READY_FOR_NEW_SCALE) };
  }
  const reason = rising ? "BackoffUpscale" : "BackoffDownscale";
  const limit = { reason, value: current, message: forbiddenSentence(rising ? "upscale" : "downscale"), untilMs };
  return stepped(conditioned, "forbidden windows", current, limit);
};

/** The windows begin at the last scale in whole seconds, and their end itself is open. */
export const forbiddenOf = (thresholds: Thresholds, lastScaleMs: number | undefined, nowMs: number): ForbiddenWindows =>
  forbiddenWindows(
    { upMs: thresholds.upscaleForbiddenWindowSeconds * 1000, downMs: thresholds.downscaleForbiddenWindowSeconds * 1000 },
    lastScaleMs === undefined ? undefined : wholeSeconds(lastScaleMs),
    nowMs,
  );
