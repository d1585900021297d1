import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extendedTo, NEW_WINDOWS, type RecommendationRun } from "../../lib/model/windows.ts";
import { highest, lowest, recalled, recorded } from "../../lib/policy/recommendations.ts";
import { throughStore } from "../conformance/hpa/through-store.ts";
import { RUNS } from "./runs.ts";
import { recordedSlot, type Slot } from "./slot-list.ts";

type Runs = readonly RecommendationRun[];

const SECOND = 1000;
const stored = (runs: Runs): Runs =>
  throughStore({ ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, recommendations: runs } }).memory.recommendations ?? [];

/** One sync: time since the one before, the recommendation, and new windows if they were edited. */
const syncs = fc.array(
  fc.record({
    gapSeconds: fc.oneof({ weight: 6, arbitrary: fc.constant(15) }, { weight: 1, arbitrary: fc.constantFrom(5, 16, 30, 61, 300, 700) }),
    replicas: fc.oneof({ weight: 3, arbitrary: fc.constant(5) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) }),
    edit: fc.option(fc.record({ upSeconds: fc.constantFrom(0, 30, 120, 600), downSeconds: fc.constantFrom(0, 15, 60, 300, 600) }), { freq: 8 }),
  }),
  { minLength: 1, maxLength: 60 },
);

type Step = typeof syncs extends fc.Arbitrary<(infer Item)[]> ? Item : never;

/** Both lists through the same syncs; `kept`: in memory throughout, else stored and read again before every sync. */
const agree = (steps: readonly Step[], kept: boolean): boolean => {
  let nowMs = 1_700_000_000_000;
  let windows = { upSeconds: 0, downSeconds: 300 };
  let slots: readonly Slot[] = [{ replicas: 5, atMs: nowMs }];
  let runs: Runs = [{ replicas: 5, firstMs: nowMs, lastMs: nowMs }];
  return steps.every(({ gapSeconds, replicas, edit }) => {
    nowMs += gapSeconds * SECOND;
    windows = edit ?? windows;
    const longestMs = Math.max(windows.upSeconds, windows.downSeconds) * SECOND;
    const known = recalled(kept ? runs : stored(runs), longestMs);
    const alike = [windows.upSeconds, windows.downSeconds].every((seconds) => sameExtremes(known, slots, replicas, nowMs - seconds * SECOND));
    slots = recordedSlot(slots, replicas, nowMs, longestMs);
    runs = recorded(known, replicas, nowMs, longestMs);
    return alike;
  });
};

const sameExtremes = (runs: Runs, slots: readonly Slot[], replicas: number, sinceMs: number): boolean => {
  const isInside = (atMs: number): boolean => atMs > sinceMs;
  const inside = slots.filter(({ atMs }) => isInside(atMs)).map((slot) => slot.replicas);
  return highest(runs, replicas, isInside) === Math.max(replicas, ...inside) && lowest(runs, replicas, isInside) === Math.min(replicas, ...inside);
};

describe("recommendations as runs", () => {
  it("always decide exactly as the controller's full list of slots, through every edit of the windows and the store", () => {
    fc.assert(fc.property(syncs, fc.boolean(), agree), RUNS);
  });

  it("move nothing but the end of the newest run while the same is recommended, also when syncs come a little early or late", () => {
    let runs: Runs = recorded(recorded([{ replicas: 9, firstMs: 0, lastMs: 0 }], 5, 15_000, 300_000), 5, 30_000, 300_000);
    const before = runs;
    for (let sync = 3; sync <= 5000; sync++) runs = recorded(recalled(runs, 300_000), 5, sync * 15_000 + ((sync * 37) % 400), 300_000);
    expect(extendedTo(before, 75_000_200)).toEqual(runs);
    expect(runs.length).toBe(before.length);
  });

  it("keep a bounded list however long they go on and whatever they are", () => {
    let runs: Runs = [];
    for (let sync = 1; sync <= 3000; sync++) runs = recorded(recalled(runs, 300_000), (sync * sync) % 7, sync * 15_000, 300_000);
    expect(runs.length).toBeLessThanOrEqual(300 / 15 + 2);
  });

  it("begin a new run when a sync was left out", () => {
    let runs: Runs = recorded(recorded([{ replicas: 5, firstMs: 0, lastMs: 0 }], 5, 15_000, 0), 5, 30_000, 0);
    runs = recorded(runs, 5, 60_000, 0);
    expect(runs.at(-1)).toEqual({ replicas: 5, firstMs: 60_000, lastMs: 60_000, stepMs: 30_000, windowMs: 0 });
  });
});
