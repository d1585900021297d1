import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  NEW_WINDOWS,
  type RecommendationRun,
  type ScaleChange,
} from "../../../lib/rules/model/windows.ts";
import {
  collapsed,
  condensed,
  highest,
  lowest,
  recalled,
  recorded,
} from "../../../lib/rules/policy/shared/recommendations.ts";
import { changedWithin, withScaleEvent } from "../../../lib/rules/policy/shared/recorded-scales.ts";
import { throughStore } from "../../conformance/hpa/through-store.ts";
import { runs as runsOf } from "../../runs.ts";

type Runs = readonly RecommendationRun[];

const SECOND = 1000;
const HOUR = 3600;
const DAY = 86_400;
const START_MS = 1_700_000_000_000;
const stored = (runs: Runs): Runs =>
  throughStore({ ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, recommendations: runs } }).memory
    .recommendations ?? [];

describe("recommendations under a window of more than an hour", () => {
  it("always decide as the full list would, for both directions and every shorter window, through the store", () => {
    const syncs = fc.array(
      fc.record({
        gapSeconds: fc.constantFrom(5, 15, 60, 900, 5000),
        replicas: fc.integer({ min: 1, max: 9 }),
      }),
      {
        minLength: 1,
        maxLength: 80,
      },
    );
    const agree = (
      steps: readonly { gapSeconds: number; replicas: number }[],
      upSeconds: number,
      downSeconds: number,
    ): boolean => {
      const windowMs = Math.max(upSeconds, downSeconds) * SECOND;
      let nowMs = START_MS;
      let runs: Runs = [];
      const all: { replicas: number; atMs: number }[] = [];
      return steps.every(({ gapSeconds, replicas }) => {
        nowMs += gapSeconds * SECOND;
        const known = recalled(stored(runs), windowMs);
        const alike = [upSeconds, downSeconds].every((seconds) => {
          const isInside = (atMs: number): boolean => atMs > nowMs - seconds * SECOND;
          const inside = all.filter(({ atMs }) => isInside(atMs)).map((one) => one.replicas);
          return (
            highest(known, replicas, isInside) === Math.max(replicas, ...inside) &&
            lowest(known, replicas, isInside) === Math.min(replicas, ...inside)
          );
        });
        all.push({ replicas, atMs: nowMs });
        runs = recorded(known, replicas, nowMs, windowMs);
        return alike;
      });
    };
    fc.assert(
      fc.property(
        syncs,
        fc.constantFrom(0, 300, 5000, DAY),
        fc.constantFrom(HOUR + 1, 20_000, DAY),
        agree,
      ),
      runsOf(2_000),
    );
  });

  it("stay few over a day of syncs every five seconds, whatever was recommended, and hold no count shorter than they must", () => {
    let runs: Runs = [];
    let nowMs = START_MS;
    for (let sync = 0; sync < DAY / 5; sync++) {
      nowMs += 5 * SECOND;
      // Falls by one in every sync: no recommendation is outdone by a later one.
      runs = recorded(runs, 100_000 - sync, nowMs, DAY * SECOND);
    }
    expect(runs.length).toBeLessThanOrEqual(722);
    const first = DAY / 5 - 12 * 60 * 12;
    const halfADay = highest(runs, 0, (atMs) => atMs > nowMs - 12 * HOUR * SECOND);
    // The first of half a day, or one of the six minutes before it.
    expect(halfADay).toBeGreaterThanOrEqual(100_000 - first);
    expect(halfADay).toBeLessThan(100_000 - first + 72);
  });

  it("begin a list of their last recommendations when the window becomes shorter again", () => {
    const day = [0, 60, 120, 7200].reduce<Runs>(
      (runs, atSeconds) => recorded(runs, 9, START_MS + atSeconds * SECOND, DAY * SECOND),
      [],
    );
    const then = recorded(recalled(day, 300 * SECOND), 5, START_MS + 7260 * SECOND, 300 * SECOND);
    expect(highest(then, 0, (atMs) => atMs > START_MS + 7100 * SECOND)).toBe(9);
    expect(highest(then, 0, (atMs) => atMs > START_MS + 7200 * SECOND)).toBe(5);
  });
});

describe("the list under a long window", () => {
  const WINDOW_MS = 4 * HOUR * SECOND;
  const at = (replicas: number, seconds: number): RecommendationRun => ({
    replicas,
    firstMs: seconds * SECOND,
    lastMs: seconds * SECOND,
  });
  const lines = (runs: Runs): readonly (readonly [number, number])[] =>
    runs.map(({ replicas, lastMs }) => [replicas, lastMs / SECOND]);
  const newest: RecommendationRun = { ...at(5, 20_000), stepMs: 15_000, windowMs: WINDOW_MS };

  it("leaves out a run once a later one is at least as high and a later one at least as low", () => {
    const runs = [
      at(9, 10_000),
      at(2, 10_100),
      at(7, 10_200),
      at(7, 10_300),
      at(3, 10_400),
      at(3, 10_500),
      at(5, 10_600),
    ];
    expect(lines(condensed(runs, newest, WINDOW_MS))).toEqual([
      [9, 10_000],
      [2, 10_100],
      [7, 10_300],
      [3, 10_500],
      [5, 20_000],
    ]);
  });

  it("is in the order of time, whatever order the slots of a shorter window were in", () => {
    const runs = [at(3, 10_500), at(9, 10_000), at(7, 10_300), at(2, 10_100)];
    expect(lines(condensed(runs, newest, WINDOW_MS))).toEqual([
      [9, 10_000],
      [2, 10_100],
      [7, 10_300],
      [3, 10_500],
      [5, 20_000],
    ]);
  });

  it("keeps a run that is exactly as old as the window, because it still counts on the way down (hpa.md 3.8.1), and no older one", () => {
    expect(lines(condensed([at(9, 5_599), at(8, 5_600)], newest, WINDOW_MS))).toEqual([
      [8, 5_600],
      [5, 20_000],
    ]);
  });

  it("has one open run, the newest; that of before is closed, and keeps its times", () => {
    const before: RecommendationRun = {
      replicas: 8,
      firstMs: 9_000_000,
      lastMs: 10_000_000,
      stepMs: 5_000,
      windowMs: WINDOW_MS,
    };
    expect(condensed([before], newest, WINDOW_MS)).toStrictEqual([
      { replicas: 8, firstMs: 9_000_000, lastMs: 10_000_000, stepMs: 5_000 },
      { replicas: 5, firstMs: 20_000_000, lastMs: 20_000_000, stepMs: 15_000, windowMs: WINDOW_MS },
    ]);
  });

  /**
   * So many runs, 20 s apart from a full minute on, each lower, or each higher, by one than the one
   * before.
   */
  const stairs = (count: number, replicasAt: (nth: number) => number): Runs =>
    Array.from({ length: count }, (_, nth) => ({
      ...at(replicasAt(nth), 6_000 + nth * 20),
      firstMs: (6_000 + nth * 20 - 5) * SECOND,
      stepMs: 5_000,
    }));

  it.each([
    ["falling", (nth: number) => 1_000 - nth],
    ["rising", (nth: number) => -1_000 + nth],
  ])("keeps up to 360 %s runs as they are", (_, replicasAt) => {
    const runs = stairs(360, replicasAt);
    expect(condensed(runs, newest, WINDOW_MS)).toStrictEqual([...runs, newest]);
  });

  it.each([
    ["falling", (nth: number) => 1_000 - nth],
    ["rising", (nth: number) => -1_000 + nth],
  ])(
    "makes one of the %s runs of each 240th of the window where there are more: the count of the oldest, the end of the youngest",
    (_, replicasAt) => {
      const condensedRuns = condensed(stairs(361, replicasAt), newest, WINDOW_MS);
      // A 240th of four hours is a minute, with three runs in it; the last minute has one.
      const minutes = Array.from({ length: 121 }, (__, minute) => ({
        replicas: replicasAt(3 * minute),
        firstMs: (6_000 + 60 * minute - 5) * SECOND,
        lastMs: (6_000 + 60 * minute + (minute < 120 ? 40 : 0)) * SECOND,
      }));
      expect(condensedRuns).toStrictEqual([...minutes, newest]);
    },
  );

  it("becomes a list of the last recommendations where it is needed for a shorter window", () => {
    expect(
      collapsed([{ replicas: 8, firstMs: 9_000, lastMs: 10_000, stepMs: 500 }, newest]),
    ).toStrictEqual([
      { replicas: 8, firstMs: 10_000, lastMs: 10_000 },
      { replicas: 5, firstMs: 20_000_000, lastMs: 20_000_000 },
    ]);
  });
});

describe("scale events under a period of a day", () => {
  const rules = {
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 100_000, periodSeconds: DAY }],
  } as const;
  const dayOf = (everySeconds: number): readonly ScaleChange[] => {
    let memory = NEW_WINDOWS.memory;
    for (let at = 0; at < DAY; at += everySeconds)
      memory = withScaleEvent(
        memory,
        { scaleUp: rules, scaleDown: rules },
        { from: 1, to: 3, atMs: START_MS + at * SECOND, eventId: `e${at}` },
      );
    return memory.scaleUps;
  };

  it("are all kept while there are few, also the oldest of the day", () => {
    const events = dayOf(300);
    expect(events).toHaveLength(288);
    expect(changedWithin(events, DAY * SECOND, START_MS + (DAY - 1) * SECOND)).toBe(576);
    expect(changedWithin(events, DAY * SECOND, START_MS + DAY * SECOND)).toBe(574);
  });

  it("become fewer where there are too many: every pod still counts, no event of the last hour is lost, and none leaves early", () => {
    const events = dayOf(10);
    const endMs = START_MS + (DAY - 10) * SECOND;
    expect(events.length).toBeLessThanOrEqual(722 + 241);
    expect(changedWithin(events, DAY * SECOND, endMs)).toBe(2 * (DAY / 10));
    expect(events.filter(({ atMs }) => atMs > endMs - HOUR * SECOND)).toHaveLength(HOUR / 10);
    for (const hours of [2, 6, 12, 18]) {
      const exact = 2 * ((hours * HOUR) / 10);
      expect(changedWithin(events, hours * HOUR * SECOND, endMs)).toBeGreaterThanOrEqual(exact);
      expect(changedWithin(events, hours * HOUR * SECOND, endMs)).toBeLessThan(exact + 72);
    }
  });

  /**
   * The list after so many scales of one pod, one a minute. The newest is not the last of the list,
   * as after a place was used again.
   */
  const minutesOf = (count: number): readonly ScaleChange[] => {
    const scaleUps = Array.from({ length: count - 1 }, (_, minute) => ({
      change: 1,
      atMs: START_MS + (minute + 1) * 60 * SECOND,
    }));
    const memory = {
      ...NEW_WINDOWS.memory,
      scaleUps: [...scaleUps.slice(700), ...scaleUps.slice(0, 700)],
    };
    return withScaleEvent(
      memory,
      { scaleUp: rules, scaleDown: rules },
      { from: 1, to: 2, atMs: START_MS, earliestMs: START_MS - SECOND },
    ).scaleUps;
  };

  it("stay as they are up to 722", () => {
    const events = minutesOf(722);
    expect(events).toHaveLength(722);
    expect(events.at(-1)).toEqual({ change: 1, atMs: START_MS, earliestMs: START_MS - SECOND });
  });

  it("become one for each 240th of the period before the last hour, where there are more: from the earliest time of any to the time of the youngest", () => {
    const events = minutesOf(723);
    const endMs = START_MS + 722 * 60 * SECOND;
    const partOf = ({ atMs }: ScaleChange): number => Math.floor(atMs / (360 * SECOND));
    const [older, lastHour] = [
      events.filter(({ atMs }) => atMs <= endMs - HOUR * SECOND),
      events.filter(({ atMs }) => atMs > endMs - HOUR * SECOND),
    ];
    expect(lastHour).toEqual(
      Array.from({ length: 60 }, (_, minute) => ({
        change: 1,
        atMs: endMs - (59 - minute) * 60 * SECOND,
      })),
    );
    expect(new Set(older.map(partOf)).size).toBe(older.length);
    const [first, second] = older;
    expect(first?.earliestMs).toBe(START_MS - SECOND);
    for (const event of older.slice(1, -1))
      expect(event).toEqual({
        change: 6,
        atMs: event.atMs,
        earliestMs: event.atMs - 5 * 60 * SECOND,
      });
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(360 * SECOND);
    expect(changedWithin(events, DAY * SECOND, endMs)).toBe(723);
  });
});
