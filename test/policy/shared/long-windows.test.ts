import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NEW_WINDOWS, type RecommendationRun, type ScaleChange } from "../../../lib/model/windows.ts";
import { highest, lowest, recalled, recorded } from "../../../lib/policy/shared/recommendations.ts";
import { changedWithin, withScaleEvent } from "../../../lib/policy/shared/recorded-scales.ts";
import { throughStore } from "../../conformance/hpa/through-store.ts";
import { runs as runsOf } from "../runs.ts";

type Runs = readonly RecommendationRun[];

const SECOND = 1000;
const HOUR = 3600;
const DAY = 86_400;
const START_MS = 1_700_000_000_000;
const stored = (runs: Runs): Runs =>
  throughStore({ ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, recommendations: runs } }).memory.recommendations ?? [];

describe("recommendations under a window of more than an hour", () => {
  it("always decide as the full list would, for both directions and every shorter window, through the store", () => {
    const syncs = fc.array(fc.record({ gapSeconds: fc.constantFrom(5, 15, 60, 900, 5000), replicas: fc.integer({ min: 1, max: 9 }) }), {
      minLength: 1,
      maxLength: 80,
    });
    const agree = (steps: readonly { gapSeconds: number; replicas: number }[], upSeconds: number, downSeconds: number): boolean => {
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
    fc.assert(fc.property(syncs, fc.constantFrom(0, 300, 5000, DAY), fc.constantFrom(HOUR + 1, 20_000, DAY), agree), runsOf(2_000));
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
    const day = [0, 60, 120, 7200].reduce<Runs>((runs, atSeconds) => recorded(runs, 9, START_MS + atSeconds * SECOND, DAY * SECOND), []);
    const then = recorded(recalled(day, 300 * SECOND), 5, START_MS + 7260 * SECOND, 300 * SECOND);
    expect(highest(then, 0, (atMs) => atMs > START_MS + 7100 * SECOND)).toBe(9);
    expect(highest(then, 0, (atMs) => atMs > START_MS + 7200 * SECOND)).toBe(5);
  });
});

describe("scale events under a period of a day", () => {
  const rules = { selectPolicy: "Max", policies: [{ type: "Pods", value: 100_000, periodSeconds: DAY }] } as const;
  const dayOf = (everySeconds: number): readonly ScaleChange[] => {
    let memory = NEW_WINDOWS.memory;
    for (let at = 0; at < DAY; at += everySeconds)
      memory = withScaleEvent(memory, { scaleUp: rules, scaleDown: rules }, { from: 1, to: 3, atMs: START_MS + at * SECOND, eventId: `e${at}` });
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
});
