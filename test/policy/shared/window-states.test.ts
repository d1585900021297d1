import { describe, expect, it } from "vitest";
import type { Memory } from "../../../lib/rules/model/windows.ts";
import type { StabilizationHold } from "../../../lib/rules/policy/shared/stabilization.ts";
import {
  forbiddenStates,
  rateStates,
  stabilizationStates,
  timerState,
} from "../../../lib/rules/policy/shared/window-states.ts";

const NOW_MS = 1_000_000;
const EMPTY: Memory = { recommendations: null, scaleUps: [], scaleDowns: [] };
const at = (replicas: number, atMs: number) => ({ replicas, firstMs: atMs, lastMs: atMs });

describe("stabilizationStates()", () => {
  const memory: Memory = {
    ...EMPTY,
    recommendations: [at(8, NOW_MS - 5_000), at(3, NOW_MS - 9_000)],
  };
  const up: StabilizationHold = {
    direction: "up",
    replicas: 3,
    untilMs: NOW_MS + 1_000,
    wantedMs: NOW_MS - 29_000,
  };
  const down: StabilizationHold = { ...up, direction: "down" };

  it("shows what is held in its own direction alone", () => {
    const lengths = { upMs: 30_000, downMs: 60_000 };
    expect(stabilizationStates(lengths, memory, 4, () => up)).toStrictEqual([
      { direction: "scaleUp", windowMs: 30_000, held: up },
      { direction: "scaleDown", windowMs: 60_000 },
    ]);
    expect(stabilizationStates(lengths, memory, 4, () => down)).toStrictEqual([
      { direction: "scaleUp", windowMs: 30_000 },
      { direction: "scaleDown", windowMs: 60_000, held: down },
    ]);
  });

  it("leaves out a direction without a window", () => {
    expect(stabilizationStates({ downMs: 0 }, memory, 4, () => undefined)).toStrictEqual([
      { direction: "scaleDown", windowMs: 0 },
    ]);
    expect(stabilizationStates({ upMs: 0 }, memory, 4, () => undefined)).toStrictEqual([
      { direction: "scaleUp", windowMs: 0 },
    ]);
  });

  it("looks at the newest recommendation, and takes a workload of unknown count to be there", () => {
    const seen: object[] = [];
    for (const current of [4, undefined]) {
      stabilizationStates({ downMs: 1 }, memory, current, (runs, counts) => {
        seen.push({ runs: runs.length, ...counts });
        return undefined;
      });
    }
    expect(seen).toEqual([
      { runs: 2, current: 4, count: 8 },
      { runs: 2, current: 8, count: 8 },
    ]);
  });

  it("holds nothing before the first recommendation", () => {
    expect(stabilizationStates({ downMs: 1 }, EMPTY, 4, () => down)).toStrictEqual([
      { direction: "scaleDown", windowMs: 1 },
    ]);
  });
});

describe("rateStates()", () => {
  const memory: Memory = {
    ...EMPTY,
    scaleUps: [
      { change: 2, atMs: NOW_MS - 60_000 },
      { change: 1, atMs: NOW_MS - 1_000, earliestMs: NOW_MS - 4_000 },
    ],
    scaleDowns: [{ change: 5, atMs: NOW_MS - 2_000, earliestMs: NOW_MS - 70_000 }],
  };
  const policies = [{ type: "Pods", value: 4, periodSeconds: 60 } as const];

  it("counts a change longest where it limits, and shortest where it gives room (hpa.md 3.8.4)", () => {
    const [up] = rateStates("scaleUp", { selectPolicy: "Max", policies }, memory, NOW_MS);
    // The older scale up is exactly as old as the period. That of the other direction may have been
    // made before the period.
    expect(up).toMatchObject({ limiting: [{ change: 1, leavesMs: NOW_MS + 59_000 }], giving: [] });
    const [down] = rateStates("scaleDown", { selectPolicy: "Min", policies }, memory, NOW_MS);
    expect(down).toMatchObject({
      limiting: [{ change: 5, leavesMs: NOW_MS + 58_000 }],
      giving: [{ change: 1, leavesMs: NOW_MS + 56_000 }],
    });
  });

  it("shows no change of the other direction where only those of the same direction count (proposals.md §3)", () => {
    const rules = { selectPolicy: "Max", countedChanges: "SameDirection", policies } as const;
    expect(rateStates("scaleDown", rules, memory, NOW_MS)).toMatchObject([
      { countedChanges: "SameDirection", limiting: [{ change: 5 }], giving: [] },
    ]);
    expect(rateStates("scaleUp", rules, memory, NOW_MS)).toMatchObject([
      { limiting: [{ change: 1 }], giving: [] },
    ]);
  });

  it("has none for a direction that is disabled, or without rules", () => {
    expect(rateStates("scaleUp", { selectPolicy: "Disabled", policies }, memory, NOW_MS)).toEqual(
      [],
    );
    expect(rateStates("scaleUp", undefined, memory, NOW_MS)).toEqual([]);
  });
});

describe("forbiddenStates()", () => {
  it("leaves out a window of no length, and says of a closed one when it opens", () => {
    expect(
      forbiddenStates({
        up: { windowMs: 1, untilMs: NOW_MS },
        down: { windowMs: 60_000, untilMs: undefined },
      }),
    ).toStrictEqual([
      { direction: "scaleUp", windowMs: 1, untilMs: NOW_MS },
      { direction: "scaleDown", windowMs: 60_000 },
    ]);
    expect(
      forbiddenStates({
        up: { windowMs: 0, untilMs: undefined },
        down: { windowMs: 0, untilMs: undefined },
      }),
    ).toEqual([]);
  });
});

describe("timerState()", () => {
  it("takes a delay of 0 s for none, and shows since when something lasts where it does", () => {
    const lasting = { sinceMs: NOW_MS, untilMs: NOW_MS + 1_000 };
    expect(timerState("Scale up delay", 0, lasting)).toEqual([]);
    expect(timerState("Scale up delay", 1, lasting)).toStrictEqual([
      { name: "Scale up delay", seconds: 1, lasting },
    ]);
    expect(timerState("Scale up delay", 1, undefined)).toStrictEqual([
      { name: "Scale up delay", seconds: 1 },
    ]);
  });
});
