import type { ControllerSettings } from "../../../model/settings.ts";
import { type Behavior, type HpaSpec, isStabilized } from "../../../model/spec-hpa.ts";
import type { RecommendationRun } from "../../../model/windows.ts";
import type { ConditionReport } from "../../conditions.ts";
import { highest, lowest, recalled, recorded } from "../../recommendations.ts";
import { READY_FOR_NEW_SCALE, SCALE_DOWN_STABILIZED, SCALE_UP_STABILIZED } from "./sentences.ts";
import { type HpaStep, stepped, withCondition } from "./sync.ts";

/** What a step of stabilization gives: the count, the condition when it is not the one that was proposed, and the list with the raw proposal recorded. */
export interface Stabilized {
  readonly count: number;
  readonly report: ConditionReport;
  readonly recommendations: readonly RecommendationRun[];
  /** The window that held the count; absent where it is the one that was proposed. Also what people are shown of the windows (lib/service/explain/autoscaler-windows.ts). */
  readonly held?: Held;
}

export interface Held {
  readonly direction: "up" | "down";
  readonly replicas: number;
  /** Last instant at which a record that holds so much is in the window, or the first at which it has left: each rule says which. */
  readonly untilMs: number;
}

/** hpa.md 2.6: without behavior downwards only, with it both ways. */
export const stabilize: HpaStep = (sync) => {
  const { input, count, current } = sync;
  if (!isStabilized(input.spec)) return sync;
  const runs = sync.recommendations ?? [];
  const { count: after, report, recommendations, held } = stabilized(input.spec, input.settings, runs, { current, count }, input.nowMs);
  const limit = held && { reason: report.reason, value: after, message: report.message, untilMs: held.untilMs };
  return {
    ...sync,
    conditions: withCondition(sync, report),
    recommendations,
    count: after,
    steps: stepped(sync, "stabilize", after, limit),
  };
};

/** What the windows of a spec make of a count, at an instant. */
export const stabilized = (
  { behavior }: Pick<HpaSpec, "behavior">,
  settings: ControllerSettings,
  runs: readonly RecommendationRun[],
  { current, count }: { readonly current: number; readonly count: number },
  nowMs: number,
): Stabilized =>
  behavior
    ? stabilizeBothWays(runs, current, count, windowsOf(behavior, settings), nowMs)
    : stabilizeDownward(runs, count, settings.downscaleStabilizationMs, nowMs);

export interface StabilizationWindows {
  readonly upMs: number;
  readonly downMs: number;
}

export const windowsOf = ({ scaleUp, scaleDown }: Behavior, settings: ControllerSettings): StabilizationWindows => ({
  upMs: (scaleUp.stabilizationWindowSeconds ?? 0) * 1000,
  downMs: scaleDown.stabilizationWindowSeconds === undefined ? settings.downscaleStabilizationMs : scaleDown.stabilizationWindowSeconds * 1000,
});

/** hpa.md 3.8.1: never below the highest of the window; a record exactly as old as the window still counts. */
export const stabilizeDownward = (stored: readonly RecommendationRun[], count: number, windowMs: number, nowMs: number): Stabilized => {
  const runs = recalled(stored, windowMs);
  const sinceMs = nowMs - windowMs;
  const after = highest(runs, count, (atMs) => atMs >= sinceMs);
  return {
    count: after,
    report: after === count ? READY_FOR_NEW_SCALE : SCALE_DOWN_STABILIZED,
    recommendations: recorded(runs, count, nowMs, windowMs),
    ...(after !== count && { held: heldDown(runs, after, windowMs) }),
  };
};

/** hpa.md 3.8.3: the current count, moved no further than both windows agree on; a record exactly as old as its window has left it. */
export const stabilizeBothWays = (
  stored: readonly RecommendationRun[],
  current: number,
  count: number,
  { upMs, downMs }: StabilizationWindows,
  nowMs: number,
): Stabilized => {
  const windowMs = Math.max(upMs, downMs);
  const runs = recalled(stored, windowMs);
  const low = lowest(runs, count, (atMs) => atMs > nowMs - upMs);
  const high = highest(runs, count, (atMs) => atMs > nowMs - downMs);
  const after = Math.min(Math.max(current, low), high);
  const changed = count >= current ? SCALE_UP_STABILIZED : SCALE_DOWN_STABILIZED;
  return {
    count: after,
    report: after === count ? READY_FOR_NEW_SCALE : changed,
    recommendations: recorded(runs, count, nowMs, windowMs),
    ...(after !== count && { held: count >= current ? heldUp(runs, after, upMs) : heldDown(runs, after, downMs) }),
  };
};

/** The count moves on once the last record has left that holds it where it is, or further back. */
const heldUp = (runs: readonly RecommendationRun[], replicas: number, windowMs: number): Held => ({
  direction: "up",
  replicas,
  untilMs: lastOf(runs, (run) => run.replicas <= replicas) + windowMs,
});

const heldDown = (runs: readonly RecommendationRun[], replicas: number, windowMs: number): Held => ({
  direction: "down",
  replicas,
  untilMs: lastOf(runs, (run) => run.replicas >= replicas) + windowMs,
});

const lastOf = (runs: readonly RecommendationRun[], holds: (run: RecommendationRun) => boolean): number =>
  Math.max(...runs.filter(holds).map(({ lastMs }) => lastMs));
