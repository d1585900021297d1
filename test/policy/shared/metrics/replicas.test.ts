import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../lib/rules/model/observation.ts";
import { MAX_I32, MIN_I64 } from "../../../../lib/rules/policy/shared/arithmetic.ts";
import {
  averageReplicas,
  type PerPodInput,
  type PerPodProposal,
  utilizationReplicas,
} from "../../../../lib/rules/policy/shared/metrics/per-pod.ts";
import {
  nonNegativeTotal,
  perReplicaReplicas,
  saturatedTotal,
  totalReplicas,
} from "../../../../lib/rules/policy/shared/metrics/replicas.ts";
import type { Failure } from "../../../../lib/rules/sources/source.ts";
import { readyPod, readyPods } from "../../../observation.ts";
import { MAX_I64 } from "../../../../lib/rules/model/quantity-parse.ts";

const input = (
  pods: readonly Pod[],
  usage: Readonly<Record<string, bigint>>,
  currentReplicas = pods.length,
): PerPodInput => ({
  currentReplicas,
  pods,
  tolerance: { down: 0.1, up: 0.1 },
  samples: new Map(
    Object.entries(usage).map(([name, milli]) => [name, { milli, timestampMs: 0, windowMs: 0 }]),
  ),
  resource: "",
  readiness: { nowMs: 0, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 },
});

const proposalOf = (outcome: PerPodProposal | Failure) =>
  "message" in outcome ? outcome : outcome.proposal;

describe("averageReplicas()", () => {
  it("gives the proposal with the ratio and the mean of the samples", () => {
    expect(
      proposalOf(
        averageReplicas(input(readyPods(2, 1n), { "web-0": 2000n, "web-1": 4000n }), 1000n),
      ),
    ).toStrictEqual({
      kind: "proposal",
      replicas: 6,
      ratio: 3,
      usageMilli: 3000n,
    });
  });

  it("gives them as they were before anything was assumed for missing pods", () => {
    expect(
      proposalOf(averageReplicas(input(readyPods(4, 1n), { "web-0": 100n, "web-1": 300n }), 1000n)),
    ).toStrictEqual({
      kind: "proposal",
      replicas: 3, // (100 + 300 + 2 × 1000) ÷ 4 of 1000, times 4
      ratio: 0.2,
      usageMilli: 200n,
      assumed: { pods: 2, as: "the target", ratio: 0.6, usageMilli: 600n },
    });
  });

  it("says when the sum of the samples was wrapped at 64 bits", () => {
    const wrapped = proposalOf(
      averageReplicas(input(readyPods(2, 1n), { "web-0": MAX_I64, "web-1": 3n }), 1000n),
    );
    expect(wrapped).toMatchObject({
      kind: "proposal",
      overflowed: true,
      usageMilli: -(2n ** 62n) + 1n,
    });
  });

  it("says so too when only what was assumed for missing pods wraps it", () => {
    const wrapped = proposalOf(
      averageReplicas(input(readyPods(3, 1n), { "web-0": 2n ** 62n }), MAX_I64),
    );
    expect(wrapped).toMatchObject({ kind: "proposal", overflowed: true, usageMilli: 2n ** 62n });
  });
});

describe("utilizationReplicas()", () => {
  it.each([
    ["without missing pods", [], "no metrics returned matched known pods"],
    ["beside missing pods", readyPods(1, 0n), "no metrics returned matched known pods"],
  ])("fails when nothing that is measured requests anything, %s", (_, more, message) => {
    const pods = [...readyPods(1, 0n).map((pod) => ({ ...pod, name: "idle" })), ...more];
    expect(
      utilizationReplicas({ ...input(pods, { idle: 5n }), resource: "cpu" }, 50, undefined),
    ).toEqual({ kind: "failure", message });
  });

  it("fails when the requests of missing pods wrap the sum to nothing", () => {
    const pods = [
      readyPod("measured", MAX_I64),
      readyPod("missing-1", MAX_I64),
      readyPod("missing-2", 2n),
    ];
    expect(
      utilizationReplicas({ ...input(pods, { measured: 1n }), resource: "cpu" }, 50, undefined),
    ).toEqual({
      kind: "failure",
      message: "no metrics returned matched known pods",
    });
  });

  it("counts requests of the measured pods alone", () => {
    const pods = [readyPod("web-0", 1000n), readyPod("web-1", 1000n)];
    expect(
      proposalOf(
        utilizationReplicas(
          { ...input(pods, { "web-0": 500n, "web-1": 700n, other: 9000n }), resource: "cpu" },
          30,
          undefined,
        ),
      ),
    ).toStrictEqual({
      kind: "proposal",
      replicas: 4,
      ratio: 2,
      utilization: 60,
      usageMilli: 600n,
    });
  });
});

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

const AS_137 = { nowMs: 0, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 };
const AS_138 = { ...AS_137, hpaVersion: "1.38" } as const;

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
    expect(
      totalReplicas(total, 1000n, {
        currentReplicas: current,
        tolerance: BAND,
        readiness: AS_137,
        pods: current === 0 ? [] : pods,
      }),
    ).toMatchObject({ replicas });
  });

  it("counts pods that are ready and running, terminating ones too", () => {
    const mixed = [
      ...readyPods(1, 1n),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, deleting: true })),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, phase: "Pending" })),
      ...readyPods(1, 1n).map((pod) => ({ ...pod, ready: { status: "False", transitionMs: 0 } })),
      ...readyPods(1, 1n).map(({ ready: _, ...pod }) => pod),
    ];
    expect(
      totalReplicas(2000n, 1000n, {
        currentReplicas: 5,
        tolerance: BAND,
        readiness: AS_137,
        pods: mixed,
      }),
    ).toMatchObject({ replicas: 4 });
  });

  it("gives the total and the ratio with the proposal", () => {
    expect(
      totalReplicas(2000n, 1000n, { currentReplicas: 5, tolerance: BAND, readiness: AS_137, pods }),
    ).toStrictEqual({
      kind: "proposal",
      replicas: 6,
      usageMilli: 2000n,
      ratio: 2,
    });
  });

  it("fails without a pod to scale from, outside the band", () => {
    expect(
      totalReplicas(2000n, 1000n, {
        currentReplicas: 5,
        tolerance: BAND,
        readiness: AS_137,
        pods: [],
      }),
    ).toStrictEqual({
      kind: "failure",
      message:
        "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    });
  });

  it("stops at the largest count", () => {
    expect(
      totalReplicas(MAX_I64, 1n, { currentReplicas: 5, tolerance: BAND, readiness: AS_137, pods }),
    ).toMatchObject({ replicas: MAX_I32 });
  });
});

describe("perReplicaReplicas()", () => {
  it("keeps the status count inside the band, and shares the total among it, rounded up", () => {
    expect(
      perReplicaReplicas(
        3100n,
        1000n,
        { statusReplicas: 3, tolerance: BAND, readiness: AS_137 },
        "saturated",
      ),
    ).toMatchObject({
      kind: "proposal",
      replicas: 3,
      usageMilli: 1034n,
    });
    expect(
      perReplicaReplicas(
        3301n,
        1000n,
        { statusReplicas: 3, tolerance: BAND, readiness: AS_137 },
        "saturated",
      ),
    ).toMatchObject({
      kind: "proposal",
      replicas: 4,
      usageMilli: 1101n,
    });
  });

  it("saturates for External where Object falls out of range", () => {
    expect(
      perReplicaReplicas(
        MAX_I64,
        1n,
        { statusReplicas: 1, tolerance: BAND, readiness: AS_137 },
        "saturated",
      ),
    ).toMatchObject({
      replicas: MAX_I32,
      usageMilli: MAX_I64,
    });
    expect(
      perReplicaReplicas(
        MAX_I64,
        1n,
        { statusReplicas: 1, tolerance: BAND, readiness: AS_137 },
        "wrapping",
      ),
    ).toMatchObject({
      replicas: -(2 ** 31),
      usageMilli: MIN_I64,
    });
  });

  it("asks for what the total wants when there are no replicas yet", () => {
    expect(
      perReplicaReplicas(
        2500n,
        1000n,
        { statusReplicas: 0, tolerance: BAND, readiness: AS_137 },
        "saturated",
      ),
    ).toMatchObject({ replicas: 3, usageMilli: MIN_I64 });
    expect(
      perReplicaReplicas(
        0n,
        1000n,
        { statusReplicas: 0, tolerance: BAND, readiness: AS_137 },
        "saturated",
      ),
    ).toMatchObject({ replicas: 0, usageMilli: MIN_I64 });
  });

  it("shares nothing among no replicas since 1.38, and stops at the largest count", () => {
    const none = { statusReplicas: 0, tolerance: BAND, readiness: AS_138 };
    const one = { ...none, statusReplicas: 1 };
    expect(perReplicaReplicas(2500n, 1000n, none, "saturated")).toMatchObject({
      replicas: 3,
      usageMilli: 0n,
    });
    expect(perReplicaReplicas(MAX_I64, 1n, one, "wrapping")).toMatchObject({
      replicas: MAX_I32,
      usageMilli: MAX_I64,
    });
  });
});
