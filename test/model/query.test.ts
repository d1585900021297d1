import { describe, expect, it } from "vitest";
import { groupOf } from "../../lib/rules/model/spec-common.ts";
import type { ScaleReading } from "../../lib/rules/model/observation.ts";
import { podSelectorText, queryKey } from "../../lib/rules/model/query.ts";
import type { HpaMetric, HpaSpec } from "../../lib/rules/model/spec-hpa.ts";
import type { WatermarkSpec } from "../../lib/rules/model/spec-watermark.ts";
import { asksOf, questions } from "../../lib/rules/policy/dialects.ts";
import { scaleRead } from "../observation.ts";
import { externalQuery } from "../../lib/rules/sources/external.ts";
import { objectQuery } from "../../lib/rules/sources/object.ts";
import { podsQuery } from "../../lib/rules/sources/pods.ts";
import { askedOf } from "../answers.ts";

const scale = (selector: string): ScaleReading => scaleRead(1, { selector });
const FAILED: ScaleReading = {
  kind: "failed",
  failure: { code: 404, reason: "NotFound", message: "not found" },
};

const spec = (...metrics: readonly HpaMetric[]): HpaSpec => ({
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 9,
  metrics,
});

const MARKS = { selector: {}, highMilli: 2n, lowMilli: 1n };
const watermark = (changed: Partial<WatermarkSpec>): WatermarkSpec => ({
  dialect: "watermark",
  counts: "ready",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 9,
  metrics: [],
  average: false,
  toleranceMilli: 10n,
  scaleUpLimit: { milli: 50_000n, whole: 50n },
  scaleDownLimit: { milli: 20_000n, whole: 20n },
  upscaleForbiddenWindowSeconds: 60,
  downscaleForbiddenWindowSeconds: 300,
  upscaleDelayAboveWatermarkSeconds: 0,
  downscaleDelayBelowWatermarkSeconds: 0,
  replicaScalingAbsoluteModulo: 1,
  converge: "off",
  dryRun: false,
  tolerateZero: false,
  minAvailableReplicaPercentage: 0,
  readinessDelaySeconds: 0,
  skipOwnerCheck: false,
  lifecycleControl: { kind: "off" },
  skipNotScalingEvents: false,
  clusterName: "",
  ...changed,
});
const recommender = { url: "https://advice.example", targetType: "cpu", settings: {}, tls: {} };

const average = { type: "AverageValue", averageValueMilli: 1n } as const;
const value = { type: "Value", valueMilli: 1n } as const;
const marks = { highMilli: 2n, lowMilli: 1n };
const queue = { name: "depth", selector: { matchLabels: { queue: "b", app: "a" } } };
const service = { apiVersion: "v1", kind: "Service", name: "front" };
const unreadable = {
  name: "depth",
  selector: { matchExpressions: [{ key: "a", operator: "Sort" }] },
};

describe("questions()", () => {
  it.each<[string, HpaMetric, boolean, boolean]>([
    ["Resource", { type: "Resource", name: "cpu", target: average }, true, true],
    [
      "ContainerResource",
      { type: "ContainerResource", name: "cpu", container: "app", target: average },
      true,
      true,
    ],
    ["Pods", { type: "Pods", metric: queue, target: average }, false, true],
    [
      "Object by value",
      { type: "Object", metric: queue, describedObject: service, target: value },
      false,
      true,
    ],
    [
      "Object by value, with an average that does not count",
      { type: "Object", metric: queue, describedObject: service, target: { ...average, ...value } },
      false,
      true,
    ],
    [
      "Object by average",
      { type: "Object", metric: queue, describedObject: service, target: average },
      false,
      false,
    ],
    ["External by value", { type: "External", metric: queue, target: value }, false, true],
    [
      "Object with watermarks",
      { type: "Object", metric: queue, describedObject: service, target: value, marks },
      false,
      false,
    ],
    [
      "External with watermarks",
      { type: "External", metric: queue, target: value, marks },
      false,
      false,
    ],
    ["Pods with watermarks", { type: "Pods", metric: queue, target: average, marks }, false, true],
    ["External by average", { type: "External", metric: queue, target: average }, false, false],
  ])("asks the queries of a %s metric", (_, metric, podMetrics, pods) => {
    expect(askedOf(questions(spec(metric), "shop", scale("app=web")))).toMatchObject({
      podMetrics,
      pods,
    });
  });

  it("names each custom and external query once per metric, selectors in canonical text", () => {
    const metrics: readonly HpaMetric[] = [
      { type: "External", metric: queue, target: average },
      { type: "Object", metric: { name: "rps" }, describedObject: service, target: average },
      { type: "Pods", metric: { name: "connections" }, target: average },
      { type: "Resource", name: "cpu", target: average },
    ];
    expect(askedOf(questions(spec(...metrics), "shop", scale("tier=x,app=web")))).toEqual({
      podMetrics: true,
      pods: true,
      external: [{ for: "external", metric: "depth", metricSelector: "app=a,queue=b" }],
      custom: [
        {
          for: "object",
          metric: "rps",
          metricSelector: "",
          group: "",
          kind: "Service",
          name: "front",
        },
        { for: "pods", metric: "connections", metricSelector: "", podSelector: "app=web,tier=x" },
      ],
    });
  });

  it.each<[string, Partial<WatermarkSpec>, boolean, boolean, readonly string[]]>([
    ["nothing", {}, false, false, []],
    ["a resource", { metrics: [{ source: "Resource", name: "cpu", ...MARKS }] }, true, true, []],
    [
      "a metric from outside",
      { metrics: [{ source: "External", name: "lag", ...MARKS }] },
      true,
      false,
      ["lag"],
    ],
    [
      "both",
      {
        metrics: [
          { source: "Resource", name: "cpu", ...MARKS },
          { source: "External", name: "lag", ...MARKS },
        ],
      },
      true,
      true,
      ["lag"],
    ],
    ["a recommender", { recommender }, true, false, []],
    [
      "a metric that counts no pod",
      { counts: "current", metrics: [{ source: "External", name: "lag", ...MARKS }] },
      false,
      false,
      ["lag"],
    ],
  ])("asks the queries of a watermark spec on %s", (_, changed, pods, podMetrics, external) => {
    const asked = askedOf(questions(watermark(changed), "shop", scale("app=web")));
    expect({ ...asked, external: asked.external.map(({ metric }) => metric) }).toEqual({
      pods,
      podMetrics,
      custom: [],
      external,
    });
  });

  it("asks nothing for a metric whose selector cannot be read", () => {
    const metrics: readonly HpaMetric[] = [
      { type: "External", metric: unreadable, target: average },
      { type: "Object", metric: unreadable, describedObject: service, target: average },
      { type: "Pods", metric: unreadable, target: average },
    ];
    expect(askedOf(questions(spec(...metrics), "shop", scale("app=web")))).toMatchObject({
      custom: [],
      external: [],
    });
  });

  it.each([
    ["the scale could not be read", FAILED],
    ["the scale has no selector", scale("")],
    ["the selector cannot be read", scale("app in")],
  ])("asks nothing about pods when %s", (_, reading) => {
    expect(
      askedOf(questions(spec({ type: "Pods", metric: queue, target: average }), "shop", reading))
        .custom,
    ).toEqual([]);
    expect(podSelectorText(reading)).toBeUndefined();
  });
});

describe("asksOf()", () => {
  it("puts the same questions as the rules, for the namespace of the autoscaler", () => {
    const own = spec({
      type: "Object",
      metric: queue,
      describedObject: { kind: "Namespace", name: "any" },
      target: average,
    });
    expect(asksOf(own, "shop").questions(scale("app=web"))).toEqual(
      questions(own, "shop", scale("app=web")),
    );
    expect(asksOf(own, "shop").questions(scale("app=web")).metrics).toMatchObject([
      { kind: "Namespace", name: "shop" },
    ]);
  });

  it("asks for a monitor only where the manifest lets one stop all scaling (watermark.md 1.4)", () => {
    expect(asksOf(watermark({ lifecycleControl: { kind: "on" } }), "shop").asksMonitor).toBe(true);
    expect(asksOf(watermark({}), "shop").asksMonitor).toBe(false);
    expect(
      asksOf(spec({ type: "External", metric: queue, target: average }), "shop").asksMonitor,
    ).toBe(false);
  });
});

describe("objectQuery()", () => {
  it("asks a Namespace of the core group by the autoscaler's own, whatever its name", () => {
    expect(
      objectQuery(queue, { apiVersion: "v1", kind: "Namespace", name: "ignored" }, "shop"),
    ).toMatchObject({ name: "shop", group: "" });
    expect(objectQuery(queue, { kind: "Namespace", name: "ignored" }, "shop")).toMatchObject({
      name: "shop",
      group: "",
    });
    expect(
      objectQuery(queue, { apiVersion: "x.io/v1", kind: "Namespace", name: "kept" }, "shop"),
    ).toMatchObject({ name: "kept", group: "x.io" });
    expect(objectQuery(queue, service, "shop")).toMatchObject({ name: "front" });
  });
});

describe("queryKey()", () => {
  it("differs wherever the question differs", () => {
    const keys = [
      podsQuery(queue, "app=web"),
      podsQuery(queue, "app=api"),
      podsQuery({ name: "depth" }, "app=web"),
      podsQuery({ name: "other" }, "app=web"),
      objectQuery(queue, service, "shop"),
      objectQuery(queue, { ...service, name: "back" }, "shop"),
      objectQuery(queue, { ...service, kind: "Ingress" }, "shop"),
      objectQuery(queue, { ...service, apiVersion: "x.io/v1" }, "shop"),
      externalQuery(queue),
      externalQuery({ name: "depth" }),
      externalQuery({ name: "depth,app" }),
    ].map((query) => (query ? queryKey(query) : ""));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain("");
  });

  it("is the same for selectors of the same meaning", () => {
    const one = externalQuery({ name: "depth", selector: { matchLabels: { a: "1", b: "2" } } });
    const other = externalQuery({ name: "depth", selector: { matchLabels: { b: "2", a: "1" } } });
    expect(one && queryKey(one)).toBe(other && queryKey(other));
  });
});

describe("groupOf()", () => {
  it.each([
    ["v1", ""],
    ["", ""],
    ["apps/v1", "apps"],
    ["apps/v1/beta", undefined],
    [undefined, ""],
    ["networking.k8s.io/v1beta1", "networking.k8s.io"],
  ])("of %j is %j", (apiVersion, group) => {
    expect(groupOf(apiVersion)).toBe(group);
  });
});
