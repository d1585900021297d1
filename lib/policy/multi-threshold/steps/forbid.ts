import type { Thresholds } from "../../../model/spec-hpa.ts";
import { READY_FOR_NEW_SCALE } from "../../hpa/steps/sentences.ts";
import { type HpaStep, stepped, withCondition } from "../../hpa/steps/sync.ts";
import { backoff, closedUntilMs, forbiddenSentence, wholeSeconds } from "../../shared/forbidden.ts";

/** A scale of either direction closes both forbidden windows; a window of 0 s forbids nothing (proposals.md §5). */
export const forbid: HpaStep = (sync) => {
  const { spec, windows, nowMs } = sync.input;
  const { current, count } = sync;
  const { lastScaleMs } = windows.status;
  if (!spec.thresholds || lastScaleMs === undefined) return sync;
  const { up, down } = closedUntil(spec.thresholds, lastScaleMs, nowMs);
  const told = up || down ? { ...sync, conditions: withCondition(sync, backoff(down !== undefined, up !== undefined)) } : sync;
  const rising = count > current;
  const untilMs = rising ? up : down;
  if (count === current) return { ...told, steps: stepped(sync, "forbidden windows", count) };
  if (untilMs === undefined) {
    return { ...sync, conditions: withCondition(sync, READY_FOR_NEW_SCALE), steps: stepped(sync, "forbidden windows", count) };
  }
  const reason = rising ? "BackoffUpscale" : "BackoffDownscale";
  const limit = { reason, value: current, message: forbiddenSentence(rising ? "upscale" : "downscale"), untilMs };
  return { ...told, count: current, steps: stepped(sync, "forbidden windows", current, limit) };
};

/** Until when each direction is closed; the windows begin at the last scale in whole seconds, and their end itself is open. */
export const closedUntil = (
  thresholds: Thresholds,
  lastScaleMs: number | undefined,
  nowMs: number,
): { readonly up?: number; readonly down?: number } => {
  const fromMs = lastScaleMs === undefined ? undefined : wholeSeconds(lastScaleMs);
  const up = closedUntilMs(fromMs, thresholds.upscaleForbiddenWindowSeconds * 1000, nowMs);
  const down = closedUntilMs(fromMs, thresholds.downscaleForbiddenWindowSeconds * 1000, nowMs);
  return { ...(up !== undefined && { up }), ...(down !== undefined && { down }) };
};
