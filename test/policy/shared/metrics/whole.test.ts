import { describe, expect, it } from "vitest";
import { MAX_I32, MAX_I64, MIN_I64 } from "../../../../lib/policy/shared/arithmetic.ts";
import { nonNegativeTotal, perReplicaReplicas, saturatedTotal, totalReplicas } from "../../../../lib/policy/shared/metrics/replicas.ts";
import { readyPods } from "../../../observation.ts";

const BAND = { down: 0.1, up: 0.1 };

describe("saturatedTotal()", () => {
  it.each<[string, readonly bigint[], bigint]>([
    ["adds up", [1n, 2n, -5n], -2n],
    ["reaches the largest number and goes on from there", [MAX_I64 - 1n, 1n, -5n], MAX_I64 - 5n],
    ["stops where the sum would pass it", [MAX_I64, 1n, -5n], MAX_I64],
    ["wraps below the smallest", [MIN_I64, -1n], MAX_I64],
    ["is 0 for no values", [], 0n],
  ])("gives a total that %s", (_, values, total) => {
    expect(saturatedTotal(values)).toBe(total);
  });
});

describe("nonNegativeTotal()", () => {
  it.each<[string, readonly bigint[], bigint]>([
    ["adds up", [5n, -5n, 2n], 2n],
    ["takes anything negative on the way for an overflow", [5n, -6n, 100n], MAX_I64],
    ["takes an overflow for one, too", [MAX_I64, 1n], MAX_I64],
    ["is 0 for no values", [], 0n],
  ])("gives a total that %s", (_, values, total) => {
    expect(nonNegativeTotal(values)).toBe(total);
  });
});

describe("totalReplicas()", () => {
  const pods = readyPods(3, 1n);

  it.each([
    ["stays the current one inside the band", 1100n, 7, 7],
    ["multiplies the ready pods above the band", 1101n, 7, 4],
    ["divides them below the band", 300n, 7, 1],
    ["needs no band and no pods from zero", 1050n, 0, 2],
  ])("proposes a count that %s", (_, total, current, replicas) => {
    expect(totalReplicas(total, 1000n, { currentReplicas: current, tolerance: BAND, pods: current === 0 ? [] : pods })).toMatchObject({ replicas });
  });

  it("counts pods that are ready and running, terminating ones too", () => {
    const mixed = [
      ...readyPods(1, 1n),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, deleting: true })),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, phase: "Pending" })),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, ready: { status: "False", transitionMs: 0 } })),
      ...readyPods(1, 1n).map(({ ready: _, ...pod }) => pod),
    ];
    expect(totalReplicas(2000n, 1000n, { currentReplicas: 5, tolerance: BAND, pods: mixed })).toMatchObject({ replicas: 4 });
  });

  it("gives the total and the ratio with the proposal", () => {
    expect(totalReplicas(2000n, 1000n, { currentReplicas: 5, tolerance: BAND, pods })).toStrictEqual({
      kind: "proposal",
      replicas: 6,
      usageMilli: 2000n,
      ratio: 2,
    });
  });

  it("fails without a pod to scale from, outside the band", () => {
    expect(totalReplicas(2000n, 1000n, { currentReplicas: 5, tolerance: BAND, pods: [] })).toStrictEqual({
      kind: "failure",
      message: "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    });
  });

  it("stops at the largest count", () => {
    expect(totalReplicas(MAX_I64, 1n, { currentReplicas: 5, tolerance: BAND, pods })).toMatchObject({ replicas: MAX_I32 });
  });
});

describe("perReplicaReplicas()", () => {
  it("keeps the status count inside the band, and shares the total among it, rounded up", () => {
    expect(perReplicaReplicas(3100n, 1000n, { statusReplicas: 3, tolerance: BAND }, "saturated")).toMatchObject({
      kind: "proposal",
      replicas: 3,
      usageMilli: 1034n,
    });
    expect(perReplicaReplicas(3301n, 1000n, { statusReplicas: 3, tolerance: BAND }, "saturated")).toMatchObject({
      kind: "proposal",
      replicas: 4,
      usageMilli: 1101n,
    });
  });

  it("saturates for External where Object falls out of range", () => {
    expect(perReplicaReplicas(MAX_I64, 1n, { statusReplicas: 1, tolerance: BAND }, "saturated")).toMatchObject({
      replicas: MAX_I32,
      usageMilli: MAX_I64,
    });
    expect(perReplicaReplicas(MAX_I64, 1n, { statusReplicas: 1, tolerance: BAND }, "wrapping")).toMatchObject({
      replicas: -(2 ** 31),
      usageMilli: MIN_I64,
    });
  });

  it("asks for what the total wants when there are no replicas yet", () => {
    expect(perReplicaReplicas(2500n, 1000n, { statusReplicas: 0, tolerance: BAND }, "saturated")).toMatchObject({ replicas: 3, usageMilli: MIN_I64 });
    expect(perReplicaReplicas(0n, 1000n, { statusReplicas: 0, tolerance: BAND }, "saturated")).toMatchObject({ replicas: 0, usageMilli: MIN_I64 });
  });
});
