import type { Limit } from "../../../model/decision.ts";
import type { ControllerSettings } from "../../../model/settings.ts";
import { type Behavior, isStabilized } from "../../../model/spec-hpa.ts";
import type { RecommendationRun } from "../../../model/windows.ts";
import type { ConditionReport } from "../../conditions.ts";
import { highest, lowest, recalled, recorded } from "../../recommendations.ts";
import { READY_FOR_NEW_SCALE, SCALE_DOWN_STABILIZED, SCALE_UP_STABILIZED } from "./sentences.ts";
import { type HpaInput, type HpaStep, stepped, withCondition } from "./sync.ts";

/** What a step of stabilization gives: the count, the condition when it is not the one that was proposed, and the list with the raw proposal recorded. */
export interface Stabilized {
  readonly count: number;
  readonly report: ConditionReport;
  readonly recommendations: readonly RecommendationRun[];
}

/** hpa.md 2.6: without behavior downwards only, with it both ways. */
export const stabilize: HpaStep = (sync) => {
  const { input, count, current } = sync;
  if (!isStabilized(input.spec)) return sync;
  const { behavior } = input.spec;
  const runs = sync.recommendations ?? [];
  const {
    count: after,
    report,
    recommendations,
  } = behavior
    ? stabilizeBothWays(runs, current, count, windowsOf(behavior, input.settings), input.nowMs)
    : stabilizeDownward(runs, count, input.settings.downscaleStabilizationMs, input.nowMs);
  return {
    ...sync,
    conditions: withCondition(sync, report),
    recommendations,
    count: after,
    steps: stepped(sync, "stabilize", after, limitOf(input, runs, after, report)),
  };
};

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
  };
};

/** The window that held the count, and until when its record is in it. */
const limitOf = (input: HpaInput, runs: readonly RecommendationRun[], after: number, { reason, message }: ConditionReport): Limit | undefined => {
  if (reason === READY_FOR_NEW_SCALE.reason) return undefined;
  const { behavior } = input.spec;
  const down = reason === SCALE_DOWN_STABILIZED.reason;
  const { upMs, downMs } = behavior ? windowsOf(behavior, input.settings) : { upMs: 0, downMs: input.settings.downscaleStabilizationMs };
  const holding = runs.filter(({ replicas }) => (down ? replicas >= after : replicas <= after));
  const lastMs = Math.max(...holding.map((run) => run.lastMs));
  const limit = { reason, value: after, message };
  return Number.isFinite(lastMs) ? { ...limit, untilMs: lastMs + (down ? downMs : upMs) } : limit;
};
