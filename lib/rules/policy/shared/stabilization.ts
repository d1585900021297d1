import type { RecommendationRun } from "../../model/windows.ts";
import { highest, lowest, recalled, recorded } from "./recommendations.ts";

/**
 * What the windows make of a proposal: the count, the list with the proposal recorded, and the
 * window that held the count.
 */
export interface Stabilized {
  readonly count: number;
  readonly recommendations: readonly RecommendationRun[];
  /** Absent where the count is the one that was proposed. */
  readonly held?: StabilizationHold;
}

export interface StabilizationHold {
  readonly direction: "up" | "down";
  readonly replicas: number;
  /**
   * Last instant at which a record that holds so much is in the window, or the first at which it
   * has left: each rule says which.
   */
  readonly untilMs: number;
  /** When so much was wanted last. */
  readonly wantedMs: number;
}

/** The count of the workload, and the count that the steps before propose. */
export interface Counts {
  readonly current: number;
  readonly count: number;
}

export interface StabilizationWindows {
  readonly upMs: number;
  readonly downMs: number;
}

/**
 * hpa.md 3.8.1: never below the highest of the window; a record exactly as old as the window still
 * counts.
 */
export const stabilizeDownward = (
  stored: readonly RecommendationRun[],
  count: number,
  windowMs: number,
  nowMs: number,
): Stabilized => {
  const runs = recalled(stored, windowMs);
  const sinceMs = nowMs - windowMs;
  const after = highest(runs, count, (atMs) => atMs >= sinceMs);
  const recommendations = recorded(runs, count, nowMs, windowMs);
  return {
    count: after,
    recommendations,
    ...(after !== count && { held: heldBy(runs, "down", after, windowMs) }),
  };
};

/**
 * hpa.md 3.8.3: the current count, moved no further than both windows agree on; a record exactly as
 * old as its window has left it.
 */
export const stabilizeBothWays = (
  stored: readonly RecommendationRun[],
  { current, count }: Counts,
  { upMs, downMs }: StabilizationWindows,
  nowMs: number,
): Stabilized => {
  const windowMs = Math.max(upMs, downMs);
  const runs = recalled(stored, windowMs);
  const low = lowest(runs, count, (atMs) => atMs > nowMs - upMs);
  const high = highest(runs, count, (atMs) => atMs > nowMs - downMs);
  const after = Math.min(Math.max(current, low), high);
  const recommendations = recorded(runs, count, nowMs, windowMs);
  return {
    count: after,
    recommendations,
    ...(after !== count && {
      held:
        count >= current ? heldBy(runs, "up", after, upMs) : heldBy(runs, "down", after, downMs),
    }),
  };
};

/** The count moves on once the last record has left that holds it where it is, or further back. */
const heldBy = (
  runs: readonly RecommendationRun[],
  direction: "up" | "down",
  replicas: number,
  windowMs: number,
): StabilizationHold => {
  let wantedMs = Number.NEGATIVE_INFINITY;
  for (const run of runs)
    if (direction === "up" ? run.replicas <= replicas : run.replicas >= replicas)
      wantedMs = Math.max(wantedMs, run.lastMs);
  return { direction, replicas, untilMs: wantedMs + windowMs, wantedMs };
};
