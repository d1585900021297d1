import { wholeSeconds } from "../watermark/recorder.ts";
import { backoff, gateSentence } from "../watermark/sentences.ts";
import { READY_FOR_NEW_SCALE } from "./sentences.ts";
import { type HpaStep, stepped, withCondition } from "./sync.ts";

/** Both forbidden windows start at the last scale of either direction, in whole seconds; the end itself is allowed, and a window of 0 s forbids nothing (proposals.md §5). */
export const forbid: HpaStep = (sync) => {
  const { spec, windows, nowMs } = sync.input;
  const { current, count } = sync;
  const { lastScaleMs } = windows.status;
  if (!spec.thresholds || lastScaleMs === undefined) return sync;
  const fromMs = wholeSeconds(lastScaleMs);
  const upMs = fromMs + spec.thresholds.upscaleForbiddenWindowSeconds * 1000;
  const downMs = fromMs + spec.thresholds.downscaleForbiddenWindowSeconds * 1000;
  const [up, down] = [upMs > nowMs, downMs > nowMs];
  const told = up || down ? { ...sync, conditions: withCondition(sync, backoff(down, up)) } : sync;
  const rising = count > current;
  if (count === current || !(rising ? up : down)) {
    const conditions = count === current ? told.conditions : withCondition(sync, READY_FOR_NEW_SCALE);
    return { ...told, conditions, steps: stepped(sync, "forbidden windows", count) };
  }
  const reason = rising ? "BackoffUpscale" : "BackoffDownscale";
  const limit = { reason, value: current, message: gateSentence(reason), untilMs: rising ? upMs : downMs };
  return { ...told, count: current, steps: stepped(sync, "forbidden windows", current, limit) };
};
