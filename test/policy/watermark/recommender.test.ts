import { describe, expect, it } from "vitest";
import type { Observation, RecommenderReply } from "../../../lib/rules/model/observation.ts";
import type { Recommender, WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { recommenderQuestion } from "../../../lib/rules/policy/dialects.ts";
import {
  proposeFromReply,
  recommenderName,
  recommenderRequest,
} from "../../../lib/rules/policy/watermark/metrics/recommender.ts";
import { proposalSources } from "../../../lib/rules/policy/watermark/steps/combine.ts";
import { NOON } from "../../noon.ts";
import { observationOf, scaleRead } from "../../observation.ts";
import { podsOf, said, scaledAt, sync, wpa } from "./world.ts";

const RECOMMENDER: Recommender = {
  url: "https://advice.example/v1",
  targetType: "cpu",
  settings: { window: "600", limit: "5" },
  highMilli: 400_000n,
  lowMilli: 150_000n,
  tls: {},
};

const spec = (changed: Partial<WatermarkSpec> = {}): WatermarkSpec => {
  const read = wpa({ metrics: [] });
  return { ...read, recommender: RECOMMENDER, clusterName: "eu-1", ...changed };
};

const REPLY: RecommenderReply = {
  replicas: 8,
  lowerBoundReplicas: 4,
  upperBoundReplicas: 7,
  observedValue: 62.5,
  reason: "busy",
};
const propose = (
  reply: Partial<RecommenderReply>,
  changed: Partial<WatermarkSpec> = {},
  current = 6,
) => proposeFromReply({ ...REPLY, ...reply }, { current, ready: 5 }, spec(changed));

describe("proposeFromReply()", () => {
  it("shows the value in thousandths and the words of the recommender", () =>
    expect(propose({})).toEqual({
      replicas: 8,
      utilisation: 62_500n,
      ready: 5,
      details: "busy",
      zero: false,
      above: false,
      below: false,
      notes: expect.any(Array),
    }));

  it.each([
    ["above the current count, up to the modulo", 7, 6, 4, 8],
    ["below it, up to the modulo, and not past it", 5, 6, 4, 6],
    ["below it, to a multiple", 3, 6, 4, 4],
  ])("rounds to the modulo: %s", (_, replicas, current, replicaScalingAbsoluteModulo, count) =>
    expect(propose({ replicas }, { replicaScalingAbsoluteModulo }, current).replicas).toBe(count),
  );

  it.each([
    ["below the lower bound", 3, true, false],
    ["on the lower bound", 4, false, false],
    ["on the upper bound", 7, false, false],
    ["above the upper bound", 9, false, true],
  ])("tells the position by its bounds: a count %s", (_, current, above, below) =>
    expect(propose({}, {}, current)).toMatchObject({ above, below }),
  );

  it.each([
    [
      "not tolerated, asks for the ready pods and says so",
      false,
      { replicas: 5, utilisation: 0n, ready: 5, details: "", zero: true },
    ],
    [
      "tolerated, is a count like any other",
      true,
      { replicas: 0, utilisation: 62_500n, ready: 5, details: "busy", zero: false },
    ],
  ])("a zero that is %s", (_, tolerateZero, expected) =>
    expect(propose({ replicas: 0 }, { tolerateZero })).toMatchObject(expected),
  );

  it("converges inside its own bounds where the count is right", () =>
    expect(propose({ replicas: 6 }, { converge: "highwatermark" })).toMatchObject({
      replicas: 5,
      above: false,
      below: false,
      zero: false,
    }));

  it.each([
    [8, "Allow downscaling to converge to the High Watermark"],
    [4, "Converging to Watermark only allowed in stable regime"],
  ])("says why it does not converge at a reply of %d", (replicas, reason) => {
    const { conditions, gauges } = said(
      proposeFromReply({ ...REPLY, replicas }, { current: 6, ready: 5 }, spec()).notes,
    );
    expect(conditions).toMatchObject([{ type: "ConvergeToWatermark", status: "False", reason }]);
    expect(gauges).toEqual([
      { name: "restricted_scaling", labels: { reason: "within_bounds" }, value: 0 },
    ]);
  });
});

describe("proposeFromReply() tells by within_bounds", () => {
  it.each([
    [6, 1],
    [8, 0],
  ])("whether the count is right: %d of 6 is %d", (replicas, value) => {
    const { gauges } = said(
      proposeFromReply({ ...REPLY, replicas }, { current: 6, ready: 5 }, spec()).notes,
    );
    expect(gauges).toContainEqual({
      name: "restricted_scaling",
      labels: { reason: "within_bounds" },
      value,
    });
  });
});

describe("recommenderName()", () => {
  it("sorts the settings behind the type of the target", () =>
    expect(recommenderName(RECOMMENDER)).toBe("recommender{targetType:cpu,limit:5,window:600}"));
  it("is short without settings", () =>
    expect(recommenderName({ targetType: "cpu", settings: {} })).toBe(
      "recommender{targetType:cpu}",
    ));
});

describe("recommenderRequest()", () => {
  it("names the target, its bounds and its current state", () =>
    expect(
      recommenderRequest(spec(), RECOMMENDER, { namespace: "shop", current: 6, ready: 5 }),
    ).toEqual({
      targetRef: {
        cluster: "eu-1",
        namespace: "shop",
        kind: "Deployment",
        name: "web",
        apiVersion: "apps/v1",
      },
      constraints: { minReplicas: 1, maxReplicas: 100 },
      state: { desiredReplicas: 6, currentReplicas: 6, readyReplicas: 5 },
      targets: [{ type: "cpu", lowerBound: 150, upperBound: 400 }],
      settings: { window: "600", limit: "5" },
    }));

  it("leaves the field of a mark out that the spec does not have", () => {
    const { highMilli: _, ...lowAlone } = RECOMMENDER;
    const request = recommenderRequest(spec(), lowAlone, {
      namespace: "shop",
      current: 6,
      ready: 5,
    });
    expect(JSON.parse(JSON.stringify(request))).toMatchObject({
      targets: [{ type: "cpu", lowerBound: 150 }],
    });
    expect(request["targets"]).toEqual([{ type: "cpu", lowerBound: 150 }]);
  });

  it("leaves out what is zero or empty, but for the two counts that may be zero", () => {
    const bare = { ...RECOMMENDER, targetType: "", settings: {}, lowMilli: 0n };
    expect(
      recommenderRequest(spec({ clusterName: "", minReplicas: 0 }), bare, {
        namespace: "shop",
        current: 0,
        ready: 0,
      }),
    ).toEqual({
      targetRef: { namespace: "shop", kind: "Deployment", name: "web", apiVersion: "apps/v1" },
      constraints: { maxReplicas: 100 },
      state: { currentReplicas: 0, readyReplicas: 0 },
      targets: [{ upperBound: 400 }],
    });
  });
});

describe("recommenderQuestion()", () => {
  const ask = (changed: Partial<WatermarkSpec>, ready = 6) => {
    const observation = { ...observationOf({ scale: scaleRead(6) }), pods: podsOf(6, ready) };
    return recommenderQuestion(spec(changed), { namespace: "shop", observation, nowMs: NOON });
  };

  it("asks with the ready pods", () => {
    const question = ask({}, 4);
    expect(question?.recommender).toBe(RECOMMENDER);
    expect(question?.request["state"]).toEqual({
      desiredReplicas: 6,
      currentReplicas: 6,
      readyReplicas: 4,
    });
  });

  const { highMilli: _high, ...withoutHigh } = RECOMMENDER;
  const { lowMilli: _low, ...withoutLow } = RECOMMENDER;
  const { recommender: _recommender, ...alone } = spec();
  it.each([
    ["without a high mark", { recommender: withoutHigh }],
    ["without a low mark", { recommender: withoutLow }],
    ["for a spec that is invalid", { invalid: "it is" }],
  ])("asks nothing %s", (_, changed) => expect(ask(changed)).toBeUndefined());
  it("asks nothing where no pod is ready", () => expect(ask({}, 0)).toBeUndefined());
  it("asks nothing without a recommender", () => {
    const observation = { ...observationOf({ scale: scaleRead(6) }), pods: podsOf(6) };
    expect(
      recommenderQuestion(alone, { namespace: "shop", observation, nowMs: NOON }),
    ).toBeUndefined();
  });
});

describe("an autoscaler with a recommender", () => {
  const NAME = "recommender{targetType:cpu,limit:5,window:600}";
  const LONG_AGO = scaledAt(NOON - 3_600_000);
  const answered = (seen: Pick<Partial<Observation>, "recommender">) => seen;
  const NONE = {};

  it("scales to its reply, and shows it", () => {
    const observed = answered({
      ...NONE,
      recommender: { kind: "answered", items: { ...REPLY, lowerBoundReplicas: 7 } },
    });
    const { decision } = sync(spec(), { replicas: 6, windows: LONG_AGO, observed });
    expect(decision).toMatchObject({
      kind: "scale",
      to: 8,
      because: { reason: "MetricAboveTarget", message: `${NAME} 62500m of 150..400 asks for 8` },
    });
    expect(decision.metrics).toEqual([
      {
        name: NAME,
        type: "Resource",
        kind: "measured",
        value: "62500m",
        target: "150..400",
        proposal: 8,
      },
    ]);
    expect(decision.windows.status.currentMetrics).toEqual([
      { type: "Resource", external: { metricName: NAME, currentValue: "62500m" } },
    ]);
    expect(decision.gauges).toContainEqual({
      name: "value",
      labels: { metric_name: NAME },
      value: 62_500,
    });
    expect(decision.gauges).toContainEqual({
      name: "high_watermark",
      labels: { metric_name: NAME },
      value: 400_000,
    });
    expect(decision.gauges).toContainEqual({
      name: "low_watermark",
      labels: { metric_name: NAME },
      value: 150_000,
    });
    expect(
      decision.windows.status.conditions.find(({ type }) => type === "ScalingActive")?.message,
    ).toBe(`the WPA was able to successfully calculate a replica count from ${NAME} because: busy`);
  });

  it.each([
    ["that was not asked", { ...NONE }, "the recommender was not asked"],
    [
      "that failed",
      {
        ...NONE,
        recommender: { kind: "failed", failure: { code: 500, reason: "", message: "no advice" } },
      } as const,
      "no advice",
    ],
  ])("holds with a recommender %s", (_, answers, message) => {
    const { decision } = sync(spec(), {
      replicas: 6,
      windows: LONG_AGO,
      observed: answered(answers),
    });
    expect(decision).toMatchObject({ kind: "hold", failed: true });
    expect(decision.because.message).toBe(
      `failed to get the recommendation from https://advice.example/v1: ${message}`,
    );
    expect(decision.metrics).toEqual([
      { name: NAME, type: "Resource", kind: "failed", reason: "FailedGetResourceMetric", message },
    ]);
  });

  it("takes the series away of a recommender that failed", () => {
    const observed = answered({
      ...NONE,
      recommender: { kind: "failed", failure: { code: 500, reason: "", message: "no advice" } },
    });
    expect(
      sync(spec(), { replicas: 6, windows: LONG_AGO, observed }).decision.gauges,
    ).toContainEqual({
      name: "value",
      labels: { metric_name: NAME },
      value: null,
    });
  });

  it.each(["highMilli", "lowMilli"] as const)("holds without a mark: %s", (mark) => {
    const { [mark]: _, ...recommender } = RECOMMENDER;
    const observed = answered({ ...NONE, recommender: { kind: "answered", items: REPLY } });
    expect(
      sync(spec({ recommender }), { replicas: 6, windows: LONG_AGO, observed }).decision.because
        .message,
    ).toContain("the recommender has no highWatermark or no lowWatermark, holding");
  });

  it("without bounds counts as below, so that the way up waits for a breach that is never seen", () => {
    const bare = { ...REPLY, lowerBoundReplicas: 0, upperBoundReplicas: 0 };
    const observed = answered({ ...NONE, recommender: { kind: "answered", items: bare } });
    const { decision } = sync(spec({ upscaleDelayAboveWatermarkSeconds: 60 }), {
      replicas: 6,
      windows: LONG_AGO,
      observed,
    });
    const { limit } = decision.steps.find(({ step }) => step === "gates") ?? {};
    expect(limit).toMatchObject({ reason: "AboveHighWatermarkNotSustained", value: 6 });
    expect("untilMs" in (limit ?? {})).toBe(false);
  });

  it("hands its proposal over as counted", () => {
    const scale = scaleRead(6);
    const observation = {
      ...observationOf({ scale, recommender: { kind: "answered", items: REPLY } }),
      pods: podsOf(6),
    };
    const [source] = proposalSources({
      spec: spec(),
      namespace: "shop",
      scale,
      observation,
      nowMs: NOON,
    });
    expect(source?.propose().kind).toBe("counted");
  });

  it("writes no value for a zero that is not tolerated, and never shrinks on it", () => {
    const observed = answered({
      ...NONE,
      recommender: { kind: "answered", items: { ...REPLY, replicas: 0 } },
    });
    const { decision } = sync(spec(), { replicas: 6, ready: 5, windows: LONG_AGO, observed });
    expect(decision).toMatchObject({
      kind: "hold",
      because: {
        reason: "NoUsableValue",
        message: "no metric gives a value to shrink on, holding",
      },
    });
    expect(decision.gauges?.some(({ name }) => name === "value")).toBe(false);
  });
});
