import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  extendedTo,
  NEW_WINDOWS,
  type RecommendationRun,
} from "../../../lib/rules/model/windows.ts";
import {
  highest,
  lowest,
  recalled,
  recorded,
} from "../../../lib/rules/policy/shared/recommendations.ts";
import { throughStore } from "../../conformance/hpa/through-store.ts";
import { RUNS, runs as played } from "../../runs.ts";
import { recordedSlot, type Slot } from "./slot-list.ts";

type Runs = readonly RecommendationRun[];

const SECOND = 1000;
const stored = (runs: Runs): Runs =>
  throughStore({ ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, recommendations: runs } }).memory
    .recommendations ?? [];

/** One sync: time since the one before, the recommendation, and new windows if they were edited. */
const syncs = fc.array(
  fc.record({
    gapSeconds: fc.oneof(
      { weight: 6, arbitrary: fc.constant(15) },
      { weight: 1, arbitrary: fc.constantFrom(0, 5, 16, 30, 61, 300, 700) },
    ),
    replicas: fc.oneof(
      { weight: 3, arbitrary: fc.constant(5) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) },
    ),
    edit: fc.option(
      fc.record({
        upSeconds: fc.constantFrom(0, 30, 120, 600),
        downSeconds: fc.constantFrom(0, 15, 60, 300, 600),
      }),
      { freq: 8 },
    ),
  }),
  { minLength: 1, maxLength: 60 },
);

type Step = typeof syncs extends fc.Arbitrary<(infer Item)[]> ? Item : never;

/**
 * Both lists through the same syncs; `kept`: in memory throughout, else stored and read again
 * before every sync.
 */
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
    const alike = [windows.upSeconds, windows.downSeconds].every((seconds) =>
      sameExtremes(known, slots, replicas, nowMs - seconds * SECOND),
    );
    slots = recordedSlot(slots, replicas, nowMs, longestMs);
    runs = recorded(known, replicas, nowMs, longestMs);
    return alike;
  });
};

const sameExtremes = (
  runs: Runs,
  slots: readonly Slot[],
  replicas: number,
  sinceMs: number,
): boolean => {
  const isInside = (atMs: number): boolean => atMs > sinceMs;
  const inside = slots.filter(({ atMs }) => isInside(atMs)).map((slot) => slot.replicas);
  return (
    highest(runs, replicas, isInside) === Math.max(replicas, ...inside) &&
    lowest(runs, replicas, isInside) === Math.min(replicas, ...inside)
  );
};

const SEED: Runs = [{ replicas: 9, firstMs: 0, lastMs: 0 }];

describe("recommendations as runs", () => {
  it("always decide exactly as the controller's full list of slots, through every edit of the windows and the store", () => {
    fc.assert(fc.property(syncs, fc.boolean(), agree), RUNS);
  });

  it("always decide exactly as the full list while windows stay or become shorter, also when lag and clocks add up inside a run", () => {
    const late = fc.array(
      fc.record({
        lateMs: fc.integer({ min: -4_000, max: 4_000 }),
        driftMs: fc.integer({ min: -900, max: 900 }),
        replicas: fc.integer({ min: 4, max: 6 }),
      }),
      {
        minLength: 5,
        maxLength: 80,
      },
    );
    const lengths = fc.tuple(fc.constantFrom(0, 60, 120), fc.constantFrom(30, 120, 300));
    fc.assert(
      fc.property(late, lengths, fc.boolean(), (steps, [upSeconds, downSeconds], jumps) => {
        const longestMs = Math.max(upSeconds, downSeconds) * SECOND;
        let nowMs = 1_700_000_000_000;
        let slots: readonly Slot[] = [{ replicas: 5, atMs: nowMs }];
        let runs: Runs = [{ replicas: 5, firstMs: nowMs, lastMs: nowMs }];
        return steps.every(({ lateMs, driftMs, replicas }) => {
          nowMs += 15_000 + (jumps ? lateMs : driftMs);
          const known = recalled(stored(runs), longestMs);
          const alike = [upSeconds, downSeconds].every((seconds) =>
            sameExtremes(known, slots, replicas, nowMs - seconds * SECOND),
          );
          slots = recordedSlot(slots, replicas, nowMs, longestMs);
          runs = recorded(known, replicas, nowMs, longestMs);
          return alike;
        });
      }),
      played(20),
    );
  });

  it.each([
    { gapMs: 420, runs: 2 },
    { gapMs: 421, runs: 3 },
    { gapMs: 984, runs: 3 },
  ])(
    "a run of syncs close together goes on for half a step more at most: $gapMs ms after 280 ms",
    ({ gapMs, runs }) => {
      const seen = [0, 280, 560, 560 + gapMs].reduce<Runs>(
        (known, atMs) => recorded(known, 8, atMs, 300_000),
        [],
      );
      expect(seen.length).toBe(runs);
    },
  );

  it("move nothing but the end of the newest run while the same is recommended, also when syncs come a little early or late", () => {
    let runs: Runs = recorded(
      recorded([{ replicas: 9, firstMs: 0, lastMs: 0 }], 5, 15_000, 300_000),
      5,
      30_000,
      300_000,
    );
    const before = runs;
    for (let sync = 3; sync <= 5000; sync++)
      runs = recorded(recalled(runs, 300_000), 5, sync * 15_000 + ((sync * 37) % 400), 300_000);
    expect(extendedTo(before, 75_000_200)).toEqual(runs);
    expect(runs.length).toBe(before.length);
  });

  it("keep a bounded list however long they go on and whatever they are", () => {
    let runs: Runs = [];
    for (let sync = 1; sync <= 3000; sync++)
      runs = recorded(recalled(runs, 300_000), (sync * sync) % 7, sync * 15_000, 300_000);
    expect(runs.length).toBeLessThanOrEqual(300 / 15 + 2);
  });

  it("begin a new run when a sync was left out", () => {
    let runs: Runs = recorded(
      recorded([{ replicas: 5, firstMs: 0, lastMs: 0 }], 5, 15_000, 0),
      5,
      30_000,
      0,
    );
    runs = recorded(runs, 5, 60_000, 0);
    expect(runs.at(-1)).toEqual({
      replicas: 5,
      firstMs: 60_000,
      lastMs: 60_000,
      stepMs: 30_000,
      windowMs: 0,
    });
  });

  /** Recommendations as [seconds, replicas], under windows of this many seconds. */
  const listAfter = (
    windowSeconds: number,
    made: readonly (readonly [number, number])[],
    from: Runs = SEED,
  ): Runs =>
    made.reduce(
      (runs, [seconds, replicas]) =>
        recorded(
          recalled(runs, windowSeconds * SECOND),
          replicas,
          seconds * SECOND,
          windowSeconds * SECOND,
        ),
      from,
    );
  const inSeconds = (runs: Runs) =>
    runs.map(({ replicas, firstMs, lastMs, stepMs }) => [
      replicas,
      firstMs / SECOND,
      lastMs / SECOND,
      (stepMs ?? 0) / SECOND,
    ]);

  it("keep what was repeated in one run, once it ended", () => {
    const runs = listAfter(300, [
      [15, 5],
      [30, 5],
      [45, 5],
      [60, 5],
      [75, 7],
    ]);
    expect(runs).toEqual([
      ...SEED,
      { replicas: 5, firstMs: 15_000, lastMs: 60_000, stepMs: 15_000 },
      { replicas: 7, firstMs: 75_000, lastMs: 75_000, stepMs: 15_000, windowMs: 300_000 },
    ]);
  });

  it("use the last expired slot again, also in the middle of a run", () => {
    const before = listAfter(300, [
      [15, 5],
      [30, 5],
      [45, 5],
      [60, 5],
      [75, 7],
    ]);
    expect(inSeconds(listAfter(30, [[90, 8]], before))).toEqual([
      [9, 0, 0, 0],
      [5, 15, 30, 15],
      [8, 90, 90, 15],
      [5, 60, 60, 0],
      [7, 75, 75, 0],
    ]);
  });

  it("use the first and the last slot of a run again, and the only one", () => {
    const before = listAfter(300, [
      [15, 5],
      [30, 5],
      [45, 5],
      [60, 7],
    ]);
    expect(inSeconds(listAfter(59, [[75, 8]], before))).toEqual([
      [9, 0, 0, 0],
      [8, 75, 75, 15],
      [5, 30, 45, 15],
      [7, 60, 60, 0],
    ]);
    expect(inSeconds(listAfter(25, [[75, 8]], before))).toEqual([
      [9, 0, 0, 0],
      [5, 15, 30, 15],
      [8, 75, 75, 15],
      [7, 60, 60, 0],
    ]);
    expect(inSeconds(listAfter(70, [[75, 8]], before))).toEqual([
      [8, 75, 75, 15],
      [5, 15, 45, 15],
      [7, 60, 60, 0],
    ]);
  });

  it("keep a slot that is exactly as old as the window", () => {
    const before = listAfter(300, [
      [15, 5],
      [30, 6],
    ]);
    expect(inSeconds(listAfter(30, [[45, 8]], before))).toEqual([
      [8, 45, 45, 15],
      [5, 15, 15, 0],
      [6, 30, 30, 0],
    ]);
  });

  it("keep repetitions of another spacing apart", () => {
    const runs = listAfter(300, [
      [15, 5],
      [30, 5],
      [50, 5],
      [70, 5],
      [90, 6],
    ]);
    expect(inSeconds(runs)).toEqual([
      [9, 0, 0, 0],
      [5, 15, 30, 15],
      [5, 50, 70, 20],
      [6, 90, 90, 20],
    ]);
  });

  it("go on within a second of their time, and not beyond", () => {
    const before = listAfter(300, [[15, 5]]);
    expect(listAfter(300, [[30.999, 5]], before)).toHaveLength(2);
    expect(listAfter(300, [[31, 5]], before)).toHaveLength(3);
    expect(listAfter(300, [[29.001, 5]], before)).toHaveLength(2);
    expect(listAfter(300, [[29, 5]], before)).toHaveLength(3);
  });

  it("never take slots of another count, or of another spacing, into a run", () => {
    const at = (replicas: number, seconds: number) => ({
      replicas,
      firstMs: seconds * SECOND,
      lastMs: seconds * SECOND,
    });
    const open = (first: number, last: number, step: number) => ({
      ...at(5, first),
      lastMs: last * SECOND,
      stepMs: step * SECOND,
      windowMs: 60_000,
    });
    expect(inSeconds(listAfter(60, [[90, 6]], [at(7, 40), at(9, 0), open(60, 75, 15)]))).toEqual([
      [7, 40, 40, 0],
      [5, 75, 75, 0],
      [5, 60, 60, 0],
      [6, 90, 90, 15],
    ]);
    const spaced = { ...at(5, 45), lastMs: 60_000, stepMs: 15_000 };
    expect(inSeconds(listAfter(60, [[120, 6]], [spaced, at(9, 0), open(80, 100, 20)]))).toEqual([
      [6, 120, 120, 20],
      [5, 60, 60, 0],
      [5, 100, 100, 0],
      [5, 80, 80, 0],
    ]);
  });

  it("work the repetitions of an ended run out under the window that they were made under, before a longer one counts", () => {
    const short = listAfter(15, [
      [15, 5],
      [30, 5],
      [45, 5],
      [60, 5],
    ]);
    // The 9 of the beginning had left the window of 15 s, and its slot was used again.
    expect(highest(recalled(short, 300_000), 1, () => true)).toBe(5);
  });

  it("keep as much of a long run as the full list would", () => {
    const points = Array.from({ length: 40 }, (_, sync) => [(sync + 1) * 15, 5] as const);
    const runs = listAfter(300, [...points, [41 * 15, 6]]);
    const slots = [...points, [41 * 15, 6] as const].reduce<readonly Slot[]>(
      (list, [seconds, replicas]) => recordedSlot(list, replicas, seconds * SECOND, 300_000),
      [{ replicas: 9, atMs: 0 }],
    );
    const oldest = (list: readonly { readonly firstMs: number }[]) =>
      Math.min(...list.map(({ firstMs }) => firstMs));
    expect(oldest(runs)).toBe(oldest(slots.map(({ atMs }) => ({ firstMs: atMs }))));
  });

  it("end a run when the window is edited, whatever is recommended", () => {
    expect(
      inSeconds(
        listAfter(
          60,
          [[45, 5]],
          listAfter(300, [
            [15, 5],
            [30, 5],
          ]),
        ),
      ),
    ).toEqual([
      [9, 0, 0, 0],
      [5, 15, 30, 15],
      [5, 45, 45, 15],
    ]);
  });

  it("are slots up to a window of an hour, which is the longest of autoscaling/v2; beyond it only those are kept that can still decide", () => {
    const made = [
      [0, 9],
      [15, 5],
      [30, 9],
      [45, 5],
      [60, 7],
    ] as const;
    const replicas = (windowSeconds: number) =>
      listAfter(windowSeconds, made, []).map((run) => run.replicas);
    expect(replicas(3_600)).toEqual([9, 5, 9, 5, 7]);
    expect(replicas(3_601)).toEqual([9, 5, 7]);
  });

  it("end a run under a window of up to an hour slot by slot, and under a longer one as its last recommendation alone", () => {
    const ended = (windowSeconds: number) => {
      const runs = [0, 15, 30].map((seconds) => [seconds, 9] as const);
      return inSeconds(recalled(listAfter(windowSeconds, runs, []), 300_000));
    };
    expect(ended(3_600)).toEqual([
      [9, 0, 0, 0],
      [9, 15, 30, 15],
    ]);
    expect(ended(3_601)).toEqual([[9, 30, 30, 0]]);
  });

  it("do not take two recommendations of one instant for a run", () => {
    expect(
      listAfter(300, [
        [0, 9],
        [0, 9],
      ]),
    ).toEqual([
      ...SEED,
      ...Array.from({ length: 2 }, () => expect.objectContaining({ replicas: 9, lastMs: 0 })),
    ]);
  });

  it("work out a long run when it ends, in few steps and few slots", () => {
    const long = extendedTo(listAfter(60, [[15, 5]]), 15_000 + 1_000_000 * 15_000);
    const runs = listAfter(60, [[15 + 1_000_001 * 15, 6]], long);
    expect(runs.length).toBeLessThanOrEqual(60 / 15 + 2);
    const lastSlots = runs.filter(({ replicas }) => replicas === 5).map(({ lastMs }) => lastMs);
    expect(Math.max(...lastSlots)).toBe(15_000 + 1_000_000 * 15_000);
  });
});
