import { describe, expect, it } from "vitest";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import type { Windows } from "../../../lib/rules/model/windows.ts";
import { conclude } from "../../../lib/rules/policy/watermark/steps/conclude.ts";
import { started } from "../../../lib/rules/policy/watermark/steps/sync.ts";
import { NOON } from "../../noon.ts";
import { observationOf, scaleRead } from "../../observation.ts";
import { podsOf, scaledAt, sync, wpa } from "./world.ts";

const LONG_AGO = scaledAt(NOON - 3_600_000);
const { memory } = LONG_AGO;

/** Series as `name{label}: value`, the last write of each. */
const seriesOf = ({ gauges = [] }: Decision) =>
  Object.fromEntries(
    gauges.map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(" "), value]),
  );
const conditionsOf = ({ windows }: Decision) =>
  Object.fromEntries(
    windows.status.conditions.map(({ type, status, reason, message }) => [
      type,
      `${status} ${reason}: ${message}`,
    ]),
  );
const statusOf = ({ windows }: { readonly windows: Windows }) => {
  const { conditions: _, ...rest } = windows.status;
  return rest;
};

const MARKS = {
  "high_watermark lag": 400_000,
  "high_watermak lag": 400_000,
  "low_watermark lag": 150_000,
  "low_watermak lag": 150_000,
};
const BOUNDS = { min_replicas: 1, max_replicas: 100 };
const GREW_TOO_FAST = {
  reason: "ScaleUpLimit",
  value: 9,
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const MEASURED = {
  name: "lag{map[]}",
  type: "External",
  kind: "measured",
  value: "800",
  target: "150..400",
  proposal: 12,
};
const SHOWN = [
  { type: "External", external: { metricName: "lag", metricSelector: {}, currentValue: "800" } },
];

const FORBIDDEN = "the last scale, of either direction, is within the upscale forbidden window";
const DELAYED = "no value has been above its high watermark for the upscale delay";

describe("a watermark decision says which limit bound", () => {
  it.each([
    [
      "the maximum, where velocity allows more",
      { maxReplicas: 8 },
      6,
      800_000n,
      { reason: "TooManyReplicas", value: 8 },
    ],
    [
      "the maximum, where velocity allows as much",
      { maxReplicas: 9 },
      6,
      800_000n,
      { reason: "TooManyReplicas", value: 9 },
    ],
    [
      "velocity, below the maximum",
      { maxReplicas: 10 },
      6,
      800_000n,
      { reason: "ScaleUpLimit", value: 9 },
    ],
    [
      "the minimum, where velocity allows as much",
      { minReplicas: 5 },
      6,
      10_000n,
      { reason: "TooFewReplicas", value: 5 },
    ],
    [
      "velocity, above the minimum",
      { minReplicas: 4 },
      6,
      10_000n,
      { reason: "ScaleDownLimit", value: 5 },
    ],
  ])("%s", (_which, spec, replicas, milli, limit) => {
    const { decision } = sync(wpa(spec), { replicas, milli, windows: LONG_AGO });
    expect(decision.steps.find(({ step }) => step === "normalise")?.limit).toMatchObject(limit);
    // The condition keeps the original's reason.
    expect(
      decision.windows.status.conditions.find(({ type }) => type === "ScalingLimited")?.reason,
    ).toMatch(/^Scale(Up|Down)Limit$/);
  });
});

describe("a watermark decision that velocity does not cut", () => {
  it.each([
    ["the maximum", { maxReplicas: 7 }, 533_000n, "TooManyReplicas", 7],
    ["the minimum", { minReplicas: 6 }, 125_000n, "TooFewReplicas", 6],
  ])(
    "says, to people and in its condition, that it is cut by %s",
    (_which, spec, milli, reason, value) => {
      const { decision } = sync(wpa(spec), { replicas: 6, milli, windows: LONG_AGO });
      expect(decision.steps.find(({ step }) => step === "normalise")?.limit).toMatchObject({
        reason,
        value,
      });
      expect(
        decision.windows.status.conditions.find(({ type }) => type === "ScalingLimited"),
      ).toMatchObject({ status: "True", reason });
    },
  );
});

describe("a watermark decision with fewer ready pods than would be kept", () => {
  it("takes none away, and says so to people; its condition keeps the original's reason", () => {
    const { decision } = sync(wpa(), { replicas: 6, ready: 2, milli: 10_000n, windows: LONG_AGO });
    const message = "fewer pods are ready than would be kept, so none is taken away";
    expect(decision.steps.find(({ step }) => step === "normalise")).toMatchObject({
      after: 6,
      limit: { reason: "TooFewReady", value: 6, message },
    });
    expect(
      decision.windows.status.conditions.find(({ type }) => type === "ScalingLimited")?.reason,
    ).toBe("ScaleDownLimit");
  });
});

describe("a watermark sync whose steps chose nothing", () => {
  it("is a mistake of the program, and decides nothing", () => {
    const input = {
      spec: wpa(),
      namespace: "shop",
      name: "web",
      observation: observationOf(),
      windows: LONG_AGO,
      nowMs: NOON,
    };
    expect(() => conclude(started(input))).toThrow(
      new RangeError("the steps of the watermark rules ended without a choice"),
    );
  });
});

describe("the condition that a watermark decision sets last, which the status names", () => {
  it.each([
    ["ready for a scale", {}, 800_000n, LONG_AGO, "AbleToScale", "True"],
    [
      "ready for a scale, in a dry run",
      { dryRun: true },
      800_000n,
      LONG_AGO,
      "AbleToScale",
      "True",
    ],
    [
      "within the forbidden window",
      { upscaleForbiddenWindowSeconds: 600 },
      800_000n,
      scaledAt(NOON - 60_000),
      "AbleToScale",
      "False",
    ],
    ["within the bounds", {}, 300_000n, LONG_AGO, "ScalingLimited", "False"],
    ["without the metric", {}, undefined, LONG_AGO, "ScalingActive", "False"],
  ] as const)("%s", (_when, spec, milli, windows, type, status) => {
    const { decision } = sync(wpa(spec), {
      replicas: 6,
      windows,
      ...(milli !== undefined && { milli }),
    });
    expect(decision.lastCondition).toEqual({ type, status });
  });
});

describe("a whole decision of the watermark dialect", () => {
  it("grows with the metric, each step with its limit, series, conditions and status", () => {
    const { decision } = sync(wpa(), { replicas: 6, milli: 800_000n, windows: LONG_AGO });
    const { windows, gauges: _, ...rest } = decision;
    expect(rest).toStrictEqual({
      kind: "scale",
      from: 6,
      to: 9,
      trigger: "lag{map[]} above target",
      because: {
        reason: "MetricAboveTarget",
        message: "lag 800 of 150..400 asks for 12; the rate limit allowed 9",
      },
      metrics: [MEASURED],
      steps: [
        { step: "propose", before: 6, after: 12 },
        { step: "normalise", before: 12, after: 9, limit: GREW_TOO_FAST },
        { step: "gates", before: 9, after: 9 },
        { step: "bounds", before: 9, after: 9 },
      ],
      lastCondition: { type: "AbleToScale", status: "True" },
      events: [],
      dueAgainSeconds: 15,
    });
    expect(seriesOf(decision)).toStrictEqual({
      dry_run: 0,
      ...BOUNDS,
      ...MARKS,
      "value lag": 800_000,
      "restricted_scaling within_bounds": 0,
      "replicas_scaling_proposal lag": 12,
      "restricted_scaling downscale_capping": 0,
      "restricted_scaling upscale_capping": 1,
      "conditions scaling_limited": 1,
      "transition_countdown downscale": 0,
      "transition_countdown upscale": 0,
      "conditions able_to_scale": 1,
      scaling_active: 1,
    });
    expect(conditionsOf(decision)).toStrictEqual({
      ScalingLimited: `True ScaleUpLimit: ${GREW_TOO_FAST.message}`,
      ScalingActive:
        "True ValidMetricFound: the WPA was able to successfully calculate a replica count from lag{map[]}",
      BelowLowWatermark:
        "False Value above Low Watermark: Allow downscaling if the value stays under the Watermark",
      AboveHighWatermark:
        "True Value above High Watermark: Allow upscaling if the value stays over the Watermark",
      ConvergeToWatermark:
        "False Allow downscaling to converge to the High Watermark: Converging to Watermark only allowed in stable regime",
      AbleToScale:
        "True ReadyForScale: the last scaling time was sufficiently old as to warrant a new scale",
      DryRun: "False DryRun mode disabled: Scaling changes can be applied",
    });
    expect(windows.memory).toStrictEqual(memory);
    expect(statusOf(decision)).toStrictEqual({
      currentReplicas: 6,
      desiredReplicas: 0,
      currentMetrics: SHOWN,
      lastScaleMs: NOON - 3_600_000,
    });
  });

  it("says for a forbidden window what was wanted, and when it ends", () => {
    const { decision } = sync(wpa(), {
      replicas: 6,
      milli: 800_000n,
      windows: scaledAt(NOON - 1_000),
    });
    expect(decision).toMatchObject({ kind: "hold", from: 6, failed: false, dueAgainSeconds: 15 });
    expect(decision.because).toStrictEqual({
      reason: "BackoffUpscale",
      message: `wants 9, held: ${FORBIDDEN}`,
    });
    expect(decision.steps.slice(2)).toStrictEqual([
      {
        step: "gates",
        before: 9,
        after: 6,
        limit: { reason: "BackoffUpscale", value: 6, message: FORBIDDEN, untilMs: NOON + 59_000 },
      },
      { step: "bounds", before: 6, after: 6 },
    ]);
    const message =
      "Decided not to scale Deployment/shop/web to 9 (last scale time was 2026-03-01 11:59:59 +0000 UTC )";
    expect(decision.events).toStrictEqual([{ type: "Normal", reason: "NotScaling", message }]);
    expect(seriesOf(decision)).toMatchObject({
      replicas_scaling_effective: 6,
      scaling_active: 1,
      "conditions able_to_scale": 0,
    });
    expect(statusOf(decision)).toStrictEqual({
      currentReplicas: 6,
      desiredReplicas: 6,
      currentMetrics: SHOWN,
      lastScaleMs: NOON - 1_000,
    });
  });

  it("knows no end of a hold for a breach that was never seen", () => {
    const spec = wpa({
      upscaleDelayAboveWatermarkSeconds: 120,
      downscaleDelayBelowWatermarkSeconds: 120,
    });
    const { decision } = sync(spec, { replicas: 6, milli: 800_000n, windows: LONG_AGO });
    expect(decision.because).toStrictEqual({
      reason: "AboveHighWatermarkNotSustained",
      message: `wants 9, held: ${DELAYED}`,
    });
    expect(decision.steps[2]?.limit).toStrictEqual({
      reason: "AboveHighWatermarkNotSustained",
      value: 6,
      message: DELAYED,
      untilMs: NOON + 120_000,
    });
  });

  it.each([
    ["inside the band", 300_000n, 6, { maxReplicas: 100 }, "value within the watermarks"],
    [
      "outside it, but at the maximum",
      800_000n,
      6,
      { maxReplicas: 6 },
      "the wanted count is the current count",
    ],
  ])("holds because nothing would change: %s", (_, milli, replicas, spec, message) => {
    const { decision } = sync(wpa(spec), { replicas, milli, windows: LONG_AGO });
    expect(decision.because).toStrictEqual({ reason: "NoChange", message });
    expect("limit" in (decision.steps[1] ?? {})).toBe(spec.maxReplicas === 6);
    expect(decision.steps.at(-2)).toStrictEqual({
      step: "gates",
      before: replicas,
      after: replicas,
    });
    expect(seriesOf(decision)["restricted_scaling within_bounds"]).toBe(milli === 300_000n ? 1 : 0);
  });

  it("says in a dry run what it would do, as if it were done", () => {
    const { decision } = sync(wpa({ dryRun: true }), {
      replicas: 6,
      milli: 800_000n,
      windows: LONG_AGO,
      nowMs: NOON + 999,
    });
    expect(decision).toMatchObject({ kind: "hold", from: 6, failed: false, dueAgainSeconds: 15 });
    expect(decision.because).toStrictEqual({
      reason: "DryRun",
      message: "Dry run: would scale to 9; lag{map[]} above target",
    });
    expect(conditionsOf(decision)["DryRun"]).toBe(
      "True DryRun mode enabled: Scaling changes won't be applied",
    );
    expect(seriesOf(decision)).toMatchObject({ dry_run: 1, replicas_scaling_effective: 9 });
    expect(statusOf(decision)).toStrictEqual({
      currentReplicas: 6,
      desiredReplicas: 9,
      currentMetrics: SHOWN,
      lastScaleMs: NOON,
    });
  });

  it("says why its metric is missing, and takes every series of the metric away", () => {
    const { decision } = sync(wpa(), { replicas: 6, windows: LONG_AGO });
    const message =
      "unable to get external metric shop/lag: unable to fetch metrics from external metrics API: no metrics";
    const all = `failed to compute replicas based on external metric lag: ${message}`;
    expect(decision).toMatchObject({
      kind: "hold",
      from: 6,
      failed: true,
      dueAgainSeconds: 15,
      steps: [],
    });
    expect(decision.because).toStrictEqual({
      reason: "FailedComputeMetricsReplicas",
      message: all,
    });
    expect(conditionsOf(decision)).toStrictEqual({
      AbleToScale:
        "True SucceededGetScale: the WPA controller was able to get the target's current scale",
      DryRun: "False DryRun mode disabled: Scaling changes can be applied",
      ScalingActive: `False FailedGetExternalMetric: the WPA was unable to compute the replica count: ${message}`,
    });
    expect(decision.metrics).toStrictEqual([
      {
        name: "lag{map[]}",
        type: "External",
        kind: "failed",
        reason: "FailedGetExternalMetric",
        message,
      },
    ]);
    expect(decision.events).toStrictEqual([
      { type: "Warning", reason: "FailedGetExternalMetric", message },
      { type: "Warning", reason: "FailedComputeMetricsReplicas", message: all },
    ]);
    expect(seriesOf(decision)).toStrictEqual({
      dry_run: 0,
      "conditions able_to_scale": 1,
      ...BOUNDS,
      ...MARKS,
      "value lag": null,
      "restricted_scaling downscale_capping": null,
      "restricted_scaling upscale_capping": null,
      "restricted_scaling within_bounds": null,
      "replicas_scaling_proposal lag": null,
      scaling_active: 0,
    });
    expect(statusOf(decision)).toStrictEqual({
      currentReplicas: 6,
      desiredReplicas: 0,
      currentMetrics: null,
      lastScaleMs: NOON - 3_600_000,
    });
  });

  it("is switched off at zero, whatever the metric says", () => {
    const observed = { scale: scaleRead(0), pods: podsOf(3) };
    const { decision } = sync(wpa(), {
      replicas: 0,
      milli: 800_000n,
      windows: scaledAt(NOON - 1_000),
      observed,
    });
    const message = "scaling is disabled since the replica count of the target is zero";
    expect(decision).toMatchObject({ kind: "hold", from: 0, failed: false });
    expect(decision.because).toStrictEqual({ reason: "ScalingDisabled", message });
    expect(
      decision.windows.status.conditions.find(({ type }) => type === "ScalingActive"),
    ).toMatchObject({
      status: "False",
      reason: "ScalingDisabled",
      message,
    });
    // What was measured is not shown: the last status stays.
    expect(statusOf(decision)).toMatchObject({
      currentReplicas: 0,
      desiredReplicas: 0,
      currentMetrics: null,
    });
  });

  it.each([
    [
      "above the maximum",
      12,
      9,
      "AboveMaxReplicas",
      "Current number of replicas above Spec.MaxReplicas",
    ],
    [
      "below the minimum",
      2,
      4,
      "BelowMinReplicas",
      "Current number of replicas below Spec.MinReplicas",
    ],
  ])(
    "goes straight to its bounds from outside, past a forbidden window: %s",
    (_, replicas, to, reason, message) => {
      const spec = wpa({ minReplicas: 4, maxReplicas: 9 });
      const { decision } = sync(spec, {
        replicas,
        milli: 300_000n,
        windows: scaledAt(NOON - 1_000),
      });
      expect(decision).toMatchObject({
        kind: "scale",
        from: replicas,
        to,
        trigger: message,
        because: { reason, message },
      });
      expect(decision.steps.at(-1)).toStrictEqual({ step: "bounds", before: replicas, after: to });
      expect(decision.windows.status.currentMetrics).toBeNull();
    },
  );

  it.each([
    [
      "written",
      {},
      {
        kind: "scale",
        to: 4,
        because: {
          reason: "NoReplicas",
          message: "Current number of replicas must be greater than 0",
        },
      },
    ],
    [
      "in a dry run, as the original would",
      { dryRun: true },
      {
        kind: "hold",
        because: {
          message: "Dry run: would scale to 1; Current number of replicas must be greater than 0",
        },
      },
    ],
  ])("goes to the minimum without a running pod: %s", (_, spec, expected) => {
    const observed = { scale: scaleRead(6, { statusReplicas: 0 }), pods: podsOf(0) };
    const { decision } = sync(wpa({ minReplicas: 4, metrics: [], ...spec }), {
      replicas: 6,
      windows: LONG_AGO,
      observed,
    });
    expect(decision).toMatchObject(expected);
  });

  it("is written the first time without a change and without a reason in the event", () => {
    const { decision } = sync(wpa(), { replicas: 6, milli: 300_000n });
    expect(decision).toMatchObject({
      kind: "scale",
      from: 6,
      to: 6,
      trigger: "",
      because: { reason: "FirstDecision", message: "" },
    });
  });

  it.each([
    ["missing", { code: 404, reason: "NotFound", message: "gone" }, "scale not found: gone", 10],
    [
      "of a kind that is not served",
      { code: 404, reason: "NoKindMatch", message: "no matches" },
      "no matches",
      1,
    ],
  ])("holds without a scale: %s", (_, failure, message, dueAgainSeconds) => {
    const { decision } = sync(wpa(), {
      replicas: 6,
      milli: 300_000n,
      windows: LONG_AGO,
      observed: { scale: { kind: "failed", failure } },
    });
    const { windows, ...rest } = decision;
    expect(rest).toStrictEqual({
      kind: "hold",
      because: { reason: "FailedProcessWPA", message },
      failed: true,
      dueAgainSeconds,
      metrics: [],
      steps: [],
      lastCondition: { type: "AbleToScale", status: "False" },
      events: [{ type: "Warning", reason: "FailedProcessWPA", message }],
      gauges: [
        { name: "conditions", labels: { condition: "able_to_scale" }, value: 0 },
        { name: "scaling_active", labels: {}, value: 0 },
      ],
    });
    expect(windows.status.conditions.find(({ type }) => type === "AbleToScale")).toMatchObject({
      reason: "FailedProcessWPA",
      message: "Error happened while processing the WPA",
    });
  });

  it("never acts on a spec that is not valid, and does not look at it again", () => {
    const { decision } = sync(
      { ...wpa(), invalid: "no" },
      { replicas: 6, milli: 800_000n, windows: LONG_AGO },
    );
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      dueAgainSeconds: null,
      steps: [],
    });
    expect(decision.because).toStrictEqual({
      reason: "FailedSpecCheck",
      message: "Invalid WPA specification: no",
    });
    expect(decision.events).toStrictEqual([
      { type: "Warning", reason: "FailedSpecCheck", message: "no" },
    ]);
    expect(conditionsOf(decision)).toStrictEqual({
      AbleToScale: "False FailedSpecCheck: Invalid WPA specification: no",
      ScalingActive: "False FailedProcessWPA: Error happened while processing the WPA",
    });
    expect(statusOf(decision)).toStrictEqual(statusOf({ windows: LONG_AGO }));
  });

  it("holds while its monitor blocks it, bounds included, and has not failed", () => {
    const spec = { ...wpa({ maxReplicas: 5 }), lifecycleControl: { kind: "on" } as const };
    const { decision } = sync(spec, { replicas: 6, milli: 800_000n, windows: LONG_AGO });
    const message = "monitor shop/web not found, blocking the WPA from proceeding";
    expect(decision).toMatchObject({
      kind: "hold",
      failed: false,
      dueAgainSeconds: 120,
      because: { reason: "FailedGetDatadogMonitor", message },
    });
    expect(seriesOf(decision)).toMatchObject({ scaling_active: 0 });
  });

  it("names no last scale the first time of a workload at zero", () => {
    const { decision } = sync(wpa(), {
      replicas: 0,
      milli: 800_000n,
      observed: { scale: scaleRead(0), pods: podsOf(3) },
    });
    const message = "Decided not to scale Deployment/shop/web to 0 (last scale time was <nil> )";
    expect(decision.events).toStrictEqual([{ type: "Normal", reason: "NotScaling", message }]);
  });

  it("says so by a condition where NotScaling is no event", () => {
    const { decision } = sync(
      { ...wpa(), skipNotScalingEvents: true },
      { replicas: 6, milli: 300_000n, windows: LONG_AGO },
    );
    expect(decision.events).toStrictEqual([]);
    expect(conditionsOf(decision)["ScalingActive"]).toBe(
      "True NotScaling: the WPA was able to successfully calculate a replica count and decided not to scale Deployment/shop/web to 6 (last scale time was 2026-03-01 11:00:00 +0000 UTC )",
    );
  });
});
