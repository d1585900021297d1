import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Condition } from "../../../model/windows.ts";
import { backoff, type ForbiddenWindows, forbiddenWindows } from "../../shared/forbidden.ts";
import { lastingOf } from "../../shared/timers.ts";
import type { Recorder } from "./recorder.ts";

export interface GateRules
  extends Pick<
    WatermarkSpec,
    "upscaleForbiddenWindowSeconds" | "downscaleForbiddenWindowSeconds" | "upscaleDelayAboveWatermarkSeconds" | "downscaleDelayBelowWatermarkSeconds"
  > {}

/** Why a step may not be taken now, and when it may. */
export type Gate = { readonly kind: "open" } | { readonly kind: "closed"; readonly reason: string; readonly untilMs?: number };

/** Types of the conditions that say on which side of its watermarks a value is. */
export const ABOVE = "AboveHighWatermark";
export const BELOW = "BelowLowWatermark";

const OPEN: Gate = { kind: "open" };

/**
 * May the count change now (watermark.md 2.9)? The last scale event of either direction closes both windows; a breach must have lasted its delay. The
 * first decision ever passes, even without a change.
 */
export const shouldScale = (
  counts: { readonly current: number; readonly wanted: number },
  stable: boolean,
  lastScaleMs: number | undefined,
  rules: GateRules,
  clock: { readonly decisionMs: number; readonly wallMs: number },
  record: Pick<Recorder, "condition" | "conditions" | "gauge">,
): Gate => {
  if (lastScaleMs === undefined) return OPEN;
  const forbidden = forbiddenOf(rules, lastScaleMs, clock.decisionMs);
  const [upEndsMs, downEndsMs] = [forbidden.up.untilMs, forbidden.down.untilMs];
  const down = downEndsMs !== undefined;
  const up = upEndsMs !== undefined;
  const left = (endsMs = clock.decisionMs): number => (endsMs - clock.decisionMs) / 1000;
  record.gauge("transition_countdown", left(downEndsMs), { transition: "downscale" });
  record.gauge("transition_countdown", left(upEndsMs), { transition: "upscale" });
  if (down || up) record.condition(backoff(down, up));
  const { current, wanted } = counts;
  if (wanted === current) return { kind: "closed", reason: "NoChange" };
  const rising = wanted > current;
  const delay = rising
    ? delayed(record.conditions(), ABOVE, rules.upscaleDelayAboveWatermarkSeconds, stable, clock.wallMs)
    : delayed(record.conditions(), BELOW, rules.downscaleDelayBelowWatermarkSeconds, stable, clock.wallMs);
  if (delay.kind === "closed") return delay;
  if (rising) return up ? { kind: "closed", reason: "BackoffUpscale", untilMs: upEndsMs } : OPEN;
  return down ? { kind: "closed", reason: "BackoffDownscale", untilMs: downEndsMs } : OPEN;
};

/** A step made inside the band never waits for a breach. */
const delayed = (conditions: readonly Condition[], type: string, delaySeconds: number, stable: boolean, wallMs: number): Gate => {
  if (delaySeconds === 0 || stable) return OPEN;
  const lasting = lastingOf(conditions, type, delaySeconds);
  // A breach that was never seen, or is over, has lasted for no time: wait.
  if (!lasting) return { kind: "closed", reason: `${type}NotSustained` };
  return wallMs < lasting.untilMs ? { kind: "closed", reason: `${type}NotSustained`, untilMs: lasting.untilMs } : OPEN;
};

export const forbiddenOf = (
  rules: Pick<GateRules, "upscaleForbiddenWindowSeconds" | "downscaleForbiddenWindowSeconds">,
  lastScaleMs: number | undefined,
  nowMs: number,
): ForbiddenWindows =>
  forbiddenWindows({ upMs: rules.upscaleForbiddenWindowSeconds * 1000, downMs: rules.downscaleForbiddenWindowSeconds * 1000 }, lastScaleMs, nowMs);
