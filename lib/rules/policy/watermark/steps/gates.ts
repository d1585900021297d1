import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Condition } from "../../../model/windows.ts";
import { lastingOf } from "../../shared/steps.ts";
import { backoff, type ForbiddenWindows, forbiddenWindows } from "../../shared/forbidden.ts";
import { condition, gauge, type StepNote } from "./sentences.ts";

export interface GateRules
  extends Pick<
    WatermarkSpec,
    | "upscaleForbiddenWindowSeconds"
    | "downscaleForbiddenWindowSeconds"
    | "upscaleDelayAboveWatermarkSeconds"
    | "downscaleDelayBelowWatermarkSeconds"
  > {}

/** Why a step may not be taken now, and when it may. */
export type Gate =
  | { readonly kind: "open" }
  | { readonly kind: "closed"; readonly reason: string; readonly untilMs?: number };

/** Types of the conditions that say on which side of its watermarks a value is. */
export const ABOVE = "AboveHighWatermark";
export const BELOW = "BelowLowWatermark";

export const OPEN: Gate = { kind: "open" };

/**
 * May the count change now (watermark.md 2.9)? The last scale event of either direction closes both
 * windows; a breach must have lasted its delay. The first decision ever passes, even without a
 * change.
 */
export const shouldScale = (
  {
    current,
    wanted,
    stable,
  }: { readonly current: number; readonly wanted: number; readonly stable: boolean },
  {
    lastScaleMs,
    conditions,
  }: { readonly lastScaleMs: number | undefined; readonly conditions: readonly Condition[] },
  rules: GateRules,
  clock: { readonly decisionMs: number; readonly wallMs: number },
): { readonly gate: Gate; readonly notes: readonly StepNote[] } => {
  if (lastScaleMs === undefined) return { gate: OPEN, notes: [] };
  const forbidden = forbiddenOf(rules, lastScaleMs, clock.decisionMs);
  const notes = notesOf(forbidden, clock.decisionMs);
  const way = wayOf({ current, wanted }, rules, forbidden);
  if (!way) return { gate: { kind: "closed", reason: "NoChange" }, notes };
  // A step made inside the band never waits for a breach.
  const delay = stable ? OPEN : delayed(conditions, way, clock.wallMs);
  if (delay.kind === "closed") return { gate: delay, notes };
  const { reason, untilMs } = way;
  return { gate: untilMs === undefined ? OPEN : { kind: "closed", reason, untilMs }, notes };
};

/**
 * What stands before a step up, or before one down: a breach that must last, and the window after
 * the last scale.
 */
interface Way {
  /** Type of the condition of the breach. */
  readonly breach: string;
  readonly delaySeconds: number;
  /** Why the step may not be taken while the window is closed, and until when that is. */
  readonly reason: string;
  readonly untilMs: number | undefined;
}

const wayOf = (
  { current, wanted }: { readonly current: number; readonly wanted: number },
  rules: GateRules,
  { up, down }: ForbiddenWindows,
): Way | undefined => {
  if (wanted > current)
    return {
      breach: ABOVE,
      delaySeconds: rules.upscaleDelayAboveWatermarkSeconds,
      reason: "BackoffUpscale",
      untilMs: up.untilMs,
    };
  if (wanted < current)
    return {
      breach: BELOW,
      delaySeconds: rules.downscaleDelayBelowWatermarkSeconds,
      reason: "BackoffDownscale",
      untilMs: down.untilMs,
    };
  return undefined;
};

/** How long each window is closed still, and the condition while one of them is. */
const notesOf = ({ up, down }: ForbiddenWindows, nowMs: number): readonly StepNote[] => {
  const left = (untilMs = nowMs): number => (untilMs - nowMs) / 1000;
  const [upClosed, downClosed] = [up.untilMs !== undefined, down.untilMs !== undefined];
  return [
    gauge("transition_countdown", left(down.untilMs), { transition: "downscale" }),
    gauge("transition_countdown", left(up.untilMs), { transition: "upscale" }),
    ...(upClosed || downClosed ? [condition(backoff(downClosed, upClosed))] : []),
  ];
};

const delayed = (
  conditions: readonly Condition[],
  { breach, delaySeconds }: Way,
  wallMs: number,
): Gate => {
  if (delaySeconds === 0) return OPEN;
  const lasting = lastingOf(conditions, breach, delaySeconds);
  // A breach that was never seen, or has ended, has lasted for no time: wait.
  if (!lasting) return { kind: "closed", reason: `${breach}NotSustained` };
  return wallMs < lasting.untilMs
    ? { kind: "closed", reason: `${breach}NotSustained`, untilMs: lasting.untilMs }
    : OPEN;
};

export const forbiddenOf = (
  rules: Pick<GateRules, "upscaleForbiddenWindowSeconds" | "downscaleForbiddenWindowSeconds">,
  lastScaleMs: number | undefined,
  nowMs: number,
): ForbiddenWindows =>
  forbiddenWindows(
    {
      upMs: rules.upscaleForbiddenWindowSeconds * 1000,
      downMs: rules.downscaleForbiddenWindowSeconds * 1000,
    },
    lastScaleMs,
    nowMs,
  );
