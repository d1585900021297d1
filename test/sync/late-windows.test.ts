import { describe, expect, it } from "vitest";
import { NEW_WINDOWS, type RecommendationRun } from "../../lib/rules/model/windows.ts";
import { recorded } from "../../lib/rules/policy/shared/recommendations.ts";
import { withChange, withRecommendation } from "../../lib/stack/sync/keep/windows-after.ts";
import { intent } from "../store/records.ts";
import type { Intent } from "../../lib/rules/model/scale-records.ts";

const AT_MS = 1_000_000;

describe("withChange()", () => {
  it("counts a scale once, in its own direction, whatever the dialect keeps", () => {
    const change = { from: 2, to: 5, atMs: AT_MS, earliestMs: 0, eventId: "e" };
    const once = withChange(NEW_WINDOWS, change);
    expect(once.memory).toMatchObject({
      scaleUps: [{ change: 3, atMs: AT_MS, earliestMs: 0, eventId: "e" }],
      scaleDowns: [],
    });
    expect(once.status).toMatchObject({ desiredReplicas: 5, lastScaleMs: AT_MS, conditions: [] });
    expect(withChange(once, change)).toEqual(once);
  });

  it("says that the autoscaler put its workload to zero, so that it may wake it once its spec can be read", () => {
    const { status } = withChange(NEW_WINDOWS, {
      from: 4,
      to: 0,
      atMs: AT_MS,
      earliestMs: 0,
      eventId: "e",
    });
    expect(status.conditions).toMatchObject([
      { type: "ScaledToZero", status: "True", transitionMs: AT_MS },
    ]);
  });
});

describe("withRecommendation()", () => {
  const WINDOW_MS = 120_000;
  const late = (decidedMs: number): Intent => ({ ...intent(), recommendation: 3, decidedMs });
  const left = (
    runs: readonly RecommendationRun[],
    decidedMs: number,
  ): readonly RecommendationRun[] =>
    withRecommendation(
      { ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, recommendations: runs } },
      late(decidedMs),
    ).memory.recommendations ?? [];

  const slotsOf = (runs: readonly RecommendationRun[]): number =>
    runs.reduce(
      (sum, { firstMs, lastMs, stepMs = 1 }) =>
        sum + (firstMs === lastMs ? 1 : 1 + Math.round((lastMs - firstMs) / stepMs)),
      0,
    );

  it("ends the run that was open, so that it does not go on past it", () => {
    const open = recorded(recorded([], 3, 0, WINDOW_MS), 3, 8_000, WINDOW_MS);
    const runs = left(open, 30_000);
    expect(runs.filter(({ windowMs }) => windowMs !== undefined)).toEqual([]);
    expect(runs.at(-1)).toEqual({ replicas: 3, firstMs: 30_000, lastMs: 30_000 });
  });

  /**
   * A run of the 8 s spacing that it was opened with once reached over two minutes: fourteen
   * recommendations in place of two.
   */
  it("leaves no more recommendations than were made", () => {
    const made = [150_000, 160_000, 170_000, 180_000];
    let runs = left(recorded(recorded([], 3, 0, WINDOW_MS), 3, 8_000, WINDOW_MS), 30_000);
    for (const atMs of made) runs = recorded(runs, 3, atMs, WINDOW_MS);
    runs = recorded(runs, 5, 190_000, WINDOW_MS);
    expect(slotsOf(runs)).toBeLessThanOrEqual(3 + made.length + 1);
  });

  it("goes before a run that began later, which stays open", () => {
    const open = recorded(recorded([], 5, 0, WINDOW_MS), 4, 40_000, WINDOW_MS);
    const runs = left(open, 30_000);
    expect(runs.map(({ replicas, lastMs }) => [replicas, lastMs])).toEqual([
      [5, 0],
      [3, 30_000],
      [4, 40_000],
    ]);
    expect(runs.at(-1)).toMatchObject({ windowMs: WINDOW_MS });
  });
});
