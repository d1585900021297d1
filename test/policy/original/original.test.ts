import { describe, expect, it } from "vitest";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Pod } from "../../../lib/rules/model/observation.ts";
import { NOON } from "../../noon.ts";
import { podUsage, readyPod } from "../../observation.ts";
import { decisions, loop, type Seen } from "../loop.ts";
import type { AnswerParts } from "../../answers.ts";

const SECOND = 1000;

const manifest = (spec: object = {}): unknown => ({
  apiVersion: "extensions/v1beta1",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleRef: { apiVersion: "v1", kind: "ReplicationController", name: "web" },
    minReplicas: 1,
    maxReplicas: 50,
    ...spec,
  },
});

interface Load {
  readonly usedMilli: bigint;
  readonly requestMilli?: bigint;
  readonly pod?: Partial<Pod>;
  readonly silent?: boolean;
}

const seen = (loads: readonly Load[]): Seen => ({
  pods: loads.map(({ requestMilli = 100n, pod: more }, at) =>
    readyPod(`web-${at}`, requestMilli, more),
  ),
  answers: {
    resource: {
      kind: "answered",
      items: labelIndex(
        loads.flatMap(({ usedMilli, silent }, at) =>
          silent ? [] : [podUsage(`web-${at}`, { cpu: usedMilli })],
        ),
      ),
    },
  },
});

/** Every replica uses the same share of its request. */
const even = (percent: number) => (_: number, replicas: number) =>
  seen(Array.from({ length: replicas }, () => ({ usedMilli: BigInt(percent) })));

const one = (
  replicas: number,
  loads: readonly Load[],
  spec: object = { cpuUtilization: { targetPercentage: 80 } },
) => {
  const [decision] = decisions(manifest(spec), 1, {
    replicas,
    killed: false,
    see: () => seen(loads),
  });
  if (!decision) throw new RangeError("no decision");
  return decision;
};

const loadsOf = (...used: readonly number[]): readonly Load[] =>
  used.map((milli) => ({ usedMilli: BigInt(milli) }));

describe("the rules of the first design (proposals.md §1)", () => {
  it.each([
    ["three pods at 160 % of a target of 80 want 6, not 7", loadsOf(160, 160, 160), 6],
    ["the sum of 240 + 90 + 30 % wants ⌈360 ÷ 80⌉ = 5", loadsOf(240, 90, 30), 5],
    ["a hair above the sum of five wants 6", loadsOf(160, 160, 81), 6],
    ["three nearly idle pods want one", loadsOf(10, 10, 10), 1],
  ])("%s", (_, loads, to) => {
    expect(one(3, loads)).toMatchObject({ kind: "scale", to });
  });

  it("add up each pod's own ratio, whatever the sizes of their requests", () => {
    // 100 % of a large pod and 300 % of a small one: 400 ÷ 80, where Σ use ÷ Σ requests would say
    // 2.4.
    const loads = [
      { usedMilli: 900n, requestMilli: 900n },
      { usedMilli: 300n, requestMilli: 100n },
    ];
    expect(one(2, loads)).toMatchObject({ kind: "scale", to: 5 });
  });

  it.each([
    ["below", 71, "scale"],
    ["at", 72, "hold"],
    ["at", 88, "hold"],
    ["above", 89, "scale"],
  ])(
    "act only when the mean is outside 0.9 to 1.1 of the target: %s the edge, %d %%",
    (_, percent, kind) => {
      expect(one(10, loadsOf(...Array.from({ length: 10 }, () => percent))).kind).toBe(kind);
    },
  );

  it("take 80 % when the manifest names no target", () => {
    expect(one(1, loadsOf(161), {})).toMatchObject({ kind: "scale", to: 3 });
  });

  it("take the percentage that the manifest names", () => {
    expect(one(1, loadsOf(100), { cpuUtilization: { targetPercentage: 25 } })).toMatchObject({
      kind: "scale",
      to: 4,
    });
  });

  it("tell whether a bound held the count", () => {
    const limited = ({ windows }: ReturnType<typeof one>) =>
      windows.status.conditions.find(({ type }) => type === "ScalingLimited");
    expect(limited(one(3, loadsOf(160, 160, 160)))).toMatchObject({
      status: "False",
      reason: "DesiredWithinRange",
    });
    expect(limited(one(3, loadsOf(160, 160, 160), { maxReplicas: 6 }))).toMatchObject({
      status: "False",
      reason: "DesiredWithinRange",
    });
    expect(limited(one(3, loadsOf(10, 10, 10)))).toMatchObject({
      status: "False",
      reason: "DesiredWithinRange",
    });
    expect(limited(one(3, loadsOf(160, 160, 160), { maxReplicas: 5 }))).toMatchObject({
      status: "True",
      reason: "TooManyReplicas",
    });
  });

  it("stay within min and max, and go straight to the bound from outside", () => {
    expect(one(3, loadsOf(900, 900, 900), { maxReplicas: 7 })).toMatchObject({
      kind: "scale",
      to: 7,
      because: {
        reason: "MetricAboveTarget",
        message: expect.stringContaining("; maxReplicas allowed 7"),
      },
    });
    expect(one(3, loadsOf(1, 1, 1), { minReplicas: 2 })).toMatchObject({
      kind: "scale",
      to: 2,
      because: {
        reason: "AllMetricsBelowTarget",
        message: expect.stringContaining("; minReplicas allowed 2"),
      },
    });
    expect(one(9, loadsOf(80), { maxReplicas: 7 })).toMatchObject({ kind: "scale", to: 7 });
  });

  it.each([
    ["a running pod without a sample", [...loadsOf(10, 10), { usedMilli: 0n, silent: true }]],
    ["a pod that requests nothing", [...loadsOf(10, 10), { usedMilli: 10n, requestMilli: 0n }]],
    [
      "a pod without a request",
      [
        ...loadsOf(10, 10),
        {
          usedMilli: 10n,
          pod: { containers: [{ name: "app", requests: {}, limits: {}, restartable: false }] },
        },
      ],
    ],
  ])("never shrink on %s: the count stays and the reason is told", (_, loads) => {
    expect(one(3, loads)).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "FailedGetResourceMetric" },
    });
  });

  it.each<[string, AnswerParts["resource"], string]>([
    ["was not asked", undefined, "the metric was not asked for in this sync"],
    [
      "refuses",
      { kind: "failed", failure: { code: 403, reason: "Forbidden", message: "no" } },
      "unable to fetch metrics from resource metrics API: no",
    ],
    [
      "knows nothing",
      { kind: "answered", items: labelIndex([]) },
      "no metrics returned from resource metrics API",
    ],
  ])("hold when the metrics API %s", (_, resource, message) => {
    const answers = { custom: new Map(), external: new Map(), ...(resource && { resource }) };
    const [decision] = decisions(manifest(), 1, {
      replicas: 3,
      killed: false,
      see: () => ({ ...seen(loadsOf(10, 10, 10)), answers }),
    });
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: {
        message: `the HPA was unable to compute the replica count: failed to get cpu utilization: ${message}`,
      },
    });
    expect(decision?.windows.status.currentMetrics).toEqual([{ type: "" }]);
  });

  it("tell the failed metric once, by its name", () => {
    const decision = one(3, [...loadsOf(10, 10), { usedMilli: 0n, silent: true }]);
    const message = "failed to get cpu utilization: no CPU utilization of Pod web-2";
    expect(decision.metrics).toEqual([
      {
        name: "cpu resource utilization (percentage of request)",
        type: "Resource",
        kind: "failed",
        reason: "FailedGetResourceMetric",
        message,
      },
    ]);
    expect(decision.events).toEqual([
      { type: "Warning", reason: "FailedGetResourceMetric", message },
      {
        type: "Warning",
        reason: "FailedComputeMetricsReplicas",
        message: `invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${message}`,
      },
    ]);
  });

  it("hold while no pod runs", () => {
    const none = [{ usedMilli: 900n, pod: { phase: "Pending" } }];
    expect(one(3, none)).toMatchObject({
      kind: "hold",
      failed: true,
      because: { message: expect.stringContaining("no running pods") },
    });
  });

  it("leave out pods that are pending, failed, done or being deleted", () => {
    const out = [
      { phase: "Pending" },
      { phase: "Failed" },
      { phase: "Succeeded" },
      { deleting: true },
    ].map((more) => ({
      usedMilli: 0n,
      silent: true,
      pod: more,
    }));
    expect(one(3, [...loadsOf(160, 160, 160), ...out])).toMatchObject({ kind: "scale", to: 6 });
  });

  it("tell the value, the target, their ratio and the proposal", () => {
    expect(one(2, loadsOf(60, 101)).metrics).toEqual([
      {
        name: "cpu resource utilization (percentage of request)",
        type: "Resource",
        kind: "measured",
        value: "80%",
        target: "80%",
        ratio: 1.00625,
        proposal: 2,
      },
    ]);
  });

  it("show the mean percentage and the mean use in the status", () => {
    expect(one(2, loadsOf(60, 101)).windows.status.currentMetrics).toEqual([
      {
        type: "Resource",
        resource: { name: "cpu", current: { averageUtilization: 80, averageValue: "80m" } },
      },
    ]);
  });
});

describe.each([
  ["in one process", false],
  ["killed between any two syncs", true],
])("the forbidden windows of the first design, %s", (_, killed) => {
  const growing = (percents: (sync: number) => number) => (sync: number, replicas: number) =>
    even(percents(sync))(sync, replicas);

  it("add nothing within three minutes of a scale up, and again right after", () => {
    const counts = loop(manifest(), 9, {
      replicas: 1,
      periodMs: 30 * SECOND,
      killed,
      see: growing(() => 160),
    });
    // Scaled at 0 s; at 180 s it is still within the last three minutes, at 210 s it is not.
    expect(counts).toEqual([2, 2, 2, 2, 2, 2, 2, 4, 4]);
  });

  it("take nothing away within five minutes of a scale up", () => {
    const counts = loop(manifest(), 13, {
      replicas: 2,
      periodMs: 30 * SECOND,
      killed,
      see: growing((sync) => (sync === 0 ? 160 : 20)),
    });
    expect(counts).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 1]);
  });

  it("count a scale in either direction: nothing is added for three minutes after a scale down", () => {
    const counts = loop(manifest(), 8, {
      replicas: 8,
      periodMs: 30 * SECOND,
      killed,
      see: growing((sync) => (sync === 0 ? 40 : 160)),
    });
    expect(counts).toEqual([4, 4, 4, 4, 4, 4, 4, 8]);
  });

  it("say nothing of windows while the count is right", () => {
    const [, second] = decisions(manifest(), 2, {
      replicas: 1,
      periodMs: 30 * SECOND,
      killed,
      see: growing((sync) => (sync === 0 ? 160 : 80)),
    });
    expect(second).toMatchObject({ kind: "hold", because: { reason: "DesiredWithinRange" } });
    expect(second?.windows.status.conditions[0]).toMatchObject({
      type: "AbleToScale",
      status: "True",
      reason: "ReadyForNewScale",
    });
  });

  it.each([
    ["up", 1, () => 160, 2, 4, "BackoffUpscale", "upscale", 180],
    [
      "down",
      2,
      (sync: number) => (sync === 0 ? 160 : 20),
      4,
      1,
      "BackoffDownscale",
      "downscale",
      300,
    ],
  ])(
    "say what holds the count, and until when: %s",
    (_count, replicas, percents, current, wanted, reason, window, seconds) => {
      const [first, second] = decisions(manifest(), 2, {
        replicas,
        periodMs: 30 * SECOND,
        killed,
        see: growing(percents),
      });
      const message = `the time since the previous scale is still within the ${window} forbidden window`;
      expect(first?.steps.slice(-2).map(({ step }) => step)).toEqual(["bounds", "cool down"]);
      expect(second).toMatchObject({ kind: "hold", failed: false, because: { reason } });
      expect(second?.steps.at(-1)).toEqual({
        step: "cool down",
        before: wanted,
        after: current,
        limit: { reason, value: current, message, untilMs: NOON + seconds * SECOND },
      });
      expect(
        second?.windows.status.conditions.find(({ type }) => type === "AbleToScale"),
      ).toMatchObject({ status: "False", reason, message });
    },
  );
});
