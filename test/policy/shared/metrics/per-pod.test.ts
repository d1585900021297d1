import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../lib/model/observation.ts";
import { averageReplicas, type PerPodInput, utilizationReplicas } from "../../../../lib/policy/shared/metrics/replicas.ts";
import { readyPod, readyPods } from "../../../observation.ts";

const LARGEST = 2n ** 63n - 1n;

const input = (pods: readonly Pod[], usage: Readonly<Record<string, bigint>>, currentReplicas = pods.length): PerPodInput => ({
  currentReplicas,
  pods,
  tolerance: { down: 0.1, up: 0.1 },
  samples: new Map(Object.entries(usage).map(([name, milli]) => [name, { milli, timestampMs: 0, windowMs: 0 }])),
  resource: "",
  readiness: { nowMs: 0, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 },
});

describe("averageReplicas()", () => {
  it("gives the proposal with the ratio and the mean of the samples", () => {
    expect(averageReplicas(input(readyPods(2, 1n), { "web-0": 2000n, "web-1": 4000n }), 1000n)).toStrictEqual({
      kind: "proposal",
      replicas: 6,
      ratio: 3,
      usageMilli: 3000n,
    });
  });

  it("gives them as they were before anything was assumed for missing pods", () => {
    expect(averageReplicas(input(readyPods(4, 1n), { "web-0": 100n, "web-1": 300n }), 1000n)).toStrictEqual({
      kind: "proposal",
      replicas: 3, // (100 + 300 + 2 × 1000) ÷ 4 of 1000, times 4
      ratio: 0.2,
      usageMilli: 200n,
    });
  });

  it("says when the sum of the samples was wrapped at 64 bits", () => {
    const wrapped = averageReplicas(input(readyPods(2, 1n), { "web-0": LARGEST, "web-1": 3n }), 1000n);
    expect(wrapped).toMatchObject({ kind: "proposal", overflowed: true, usageMilli: -(2n ** 62n) + 1n });
  });

  it("says so too when only what was assumed for missing pods wraps it", () => {
    const wrapped = averageReplicas(input(readyPods(3, 1n), { "web-0": 2n ** 62n }), LARGEST);
    expect(wrapped).toMatchObject({ kind: "proposal", overflowed: true, usageMilli: 2n ** 62n });
  });
});

describe("utilizationReplicas()", () => {
  it.each([
    ["without missing pods", [], "no metrics returned matched known pods"],
    ["beside missing pods", readyPods(1, 0n), "no metrics returned matched known pods"],
  ])("fails when nothing that is measured requests anything, %s", (_, more, message) => {
    const pods = [...readyPods(1, 0n).map((pod) => ({ ...pod, name: "idle" })), ...more];
    expect(utilizationReplicas({ ...input(pods, { idle: 5n }), resource: "cpu" }, 50, undefined)).toEqual({ kind: "failure", message });
  });

  it("fails when the requests of missing pods wrap the sum to nothing", () => {
    const pods = [readyPod("measured", LARGEST), readyPod("missing-1", LARGEST), readyPod("missing-2", 2n)];
    expect(utilizationReplicas({ ...input(pods, { measured: 1n }), resource: "cpu" }, 50, undefined)).toEqual({
      kind: "failure",
      message: "no metrics returned matched known pods",
    });
  });

  it("counts requests of the measured pods alone", () => {
    const pods = [readyPod("web-0", 1000n), readyPod("web-1", 1000n)];
    expect(utilizationReplicas({ ...input(pods, { "web-0": 500n, "web-1": 700n, other: 9000n }), resource: "cpu" }, 30, undefined)).toStrictEqual({
      kind: "proposal",
      replicas: 4,
      ratio: 2,
      utilization: 60,
      usageMilli: 600n,
    });
  });
});
