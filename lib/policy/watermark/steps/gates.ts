import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Condition } from "../../../model/windows.ts";
import { backoff, closedUntilMs } from "../../shared/forbidden.ts";
import type { Recorder } from "./recorder.ts";

export interface GateRules
  extends Pick<
    WatermarkSpec,
    "upscaleForbiddenWindowSeconds" | "downscaleForbiddenWindowSeconds" | "upscaleDelayAboveWatermarkSeconds" | "downscaleDelayBelowWatermarkSeconds"
  > {}

/** Why a step may not be taken now, and when it may. */
export type Gate = { readonly kind: "open" } | { readonly kind: "closed"; readonly reason: string; readonly untilMs?: number };

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
  const downEndsMs = closedUntilMs(lastScaleMs, rules.downscaleForbiddenWindowSeconds * 1000, clock.decisionMs);
  const upEndsMs = closedUntilMs(lastScaleMs, rules.upscaleForbiddenWindowSeconds * 1000, clock.decisionMs);
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
    ? delayed(record.conditions(), "AboveHighWatermark", rules.upscaleDelayAboveWatermarkSeconds, stable, clock.wallMs)
    : delayed(record.conditions(), "BelowLowWatermark", rules.downscaleDelayBelowWatermarkSeconds, stable, clock.wallMs);
  if (delay.kind === "closed") return delay;
  if (rising) return up ? { kind: "closed", reason: "BackoffUpscale", untilMs: upEndsMs } : OPEN;
  return down ? { kind: "closed", reason: "BackoffDownscale", untilMs: downEndsMs } : OPEN;
};

/** A step made inside the band never waits for a breach. */
const delayed = (conditions: readonly Condition[], type: string, delaySeconds: number, stable: boolean, wallMs: number): Gate => {
  if (delaySeconds === 0 || stable) return OPEN;
  const breach = conditions.find((condition) => condition.type === type);
  // A breach that was never seen, or is over, has lasted for no time: wait.
  if (breach?.status !== "True") return { kind: "closed", reason: `${type}NotSustained` };
  const leftSeconds = delaySeconds - Math.trunc((wallMs - breach.transitionMs) / 1000);
  return leftSeconds > 0 ? { kind: "closed", reason: `${type}NotSustained`, untilMs: breach.transitionMs + delaySeconds * 1000 } : OPEN;
};
