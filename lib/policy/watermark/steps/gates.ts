import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Condition } from "../../../model/windows.ts";
import { backoff, type ForbiddenWindows, forbiddenWindows } from "../../shared/forbidden.ts";
import { lastingOf } from "../../shared/timers.ts";
import { condition, gauge, type Note } from "./notes.ts";

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
  { current, wanted, stable }: { readonly current: number; readonly wanted: number; readonly stable: boolean },
  { lastScaleMs, conditions }: { readonly lastScaleMs: number | undefined; readonly conditions: readonly Condition[] },
  rules: GateRules,
  clock: { readonly decisionMs: number; readonly wallMs: number },
): { readonly gate: Gate; readonly notes: readonly Note[] } => {
  if (lastScaleMs === undefined) return { gate: OPEN, notes: [] };
  const forbidden = forbiddenOf(rules, lastScaleMs, clock.decisionMs);
  const notes = notesOf(forbidden, clock.decisionMs);
  if (wanted === current) return { gate: { kind: "closed", reason: "NoChange" }, notes };
  const rising = wanted > current;
  // A step made inside the band never waits for a breach.
  const delay = stable ? OPEN : delayed(conditions, rising ? breachAbove(rules) : breachBelow(rules), clock.wallMs);
  if (delay.kind === "closed") return { gate: delay, notes };
  const { untilMs } = rising ? forbidden.up : forbidden.down;
  if (untilMs === undefined) return { gate: OPEN, notes };
  return { gate: { kind: "closed", reason: rising ? "BackoffUpscale" : "BackoffDownscale", untilMs }, notes };
};

/** How long each window is closed still, and the condition while one of them is. */
const notesOf = ({ up, down }: ForbiddenWindows, nowMs: number): readonly Note[] => {
  const left = (untilMs = nowMs): number => (untilMs - nowMs) / 1000;
  const [upClosed, downClosed] = [up.untilMs !== undefined, down.untilMs !== undefined];
  return [
    gauge("transition_countdown", left(down.untilMs), { transition: "downscale" }),
    gauge("transition_countdown", left(up.untilMs), { transition: "upscale" }),
    ...(upClosed || downClosed ? [condition(backoff(downClosed, upClosed))] : []),
  ];
};

interface Breach {
  readonly type: string;
  readonly delaySeconds: number;
}

const breachAbove = (rules: GateRules): Breach => ({ type: ABOVE, delaySeconds: rules.upscaleDelayAboveWatermarkSeconds });
const breachBelow = (rules: GateRules): Breach => ({ type: BELOW, delaySeconds: rules.downscaleDelayBelowWatermarkSeconds });

const delayed = (conditions: readonly Condition[], { type, delaySeconds }: Breach, wallMs: number): Gate => {
  if (delaySeconds === 0) return OPEN;
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
