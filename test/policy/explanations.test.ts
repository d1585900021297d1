import { describe, expect, it } from "vitest";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { askDialect } from "../../lib/rules/policy/dialects.ts";
import type { Explanations } from "../../lib/rules/policy/explanations.ts";
import { hpa } from "./multi-threshold/world.ts";
import { LOAD, native } from "./native/world.ts";
import { specOf } from "./spec-of.ts";

/** Asks the dialect of a spec. */
const ask = <Answer>(
  spec: AutoscalerSpec,
  question: <Spec extends AutoscalerSpec>(explains: Explanations<Spec>, spec: Spec) => Answer,
): Answer => askDialect(spec, ({ explains }, own) => question(explains, own));
const targets = (spec: AutoscalerSpec) => ask(spec, (explains, own) => explains.targets(own));
const cpuPercent = (spec: AutoscalerSpec) => ask(spec, (explains, own) => explains.cpuPercent(own));
const besides = (spec: AutoscalerSpec, value: string) =>
  ask(spec, (explains, own) =>
    explains.besides?.(own, { name: "load", value, target: "10", proposal: 3 }),
  );
const stoppedBy = (spec: AutoscalerSpec, message: string) =>
  ask(spec, (explains, own) => explains.stoppedBy(own, { reason: "MetricMissing", message }));
const takesPart = (spec: AutoscalerSpec, name: string, proposal: number) =>
  ask(spec, (explains, own) =>
    explains.takesPart(own, { name, value: "1", target: "10", proposal }, 5),
  );
const rest = (spec: AutoscalerSpec, from: number) =>
  ask(spec, (explains, own) => explains.rest(own, from));

const resource = (name: string, target: object) => ({
  type: "Resource",
  resource: { name, target },
});
const CPU_60 = resource("cpu", { type: "Utilization", averageUtilization: 60 });
const CPU_OF_APP = {
  type: "ContainerResource",
  containerResource: {
    name: "cpu",
    container: "app",
    target: { type: "Utilization", averageUtilization: 7 },
  },
};
const MARKS = { highWatermark: "10", lowWatermark: "5" };
const MARKED = { type: "External", external: { metricName: "load", ...MARKS } };
const EXTERNAL = {
  type: "External",
  external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1500m" } },
};
const watermark = (more: object = {}) =>
  specOf({
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "WatermarkPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 9,
      tolerance: "0.05",
      metrics: [
        {
          type: "External",
          external: { metricName: "load", metricSelector: { matchLabels: { a: "b" } }, ...MARKS },
        },
      ],
      ...more,
    },
  });

describe("what an HPA says of its targets", () => {
  it.each([
    ["a share of the CPU request", CPU_60, "Resource", "cpu resource", "60%"],
    [
      "an amount of memory, in binary units",
      resource("memory", { type: "AverageValue", averageValue: "100Mi" }),
      "Resource",
      "memory resource",
      "100Mi",
    ],
    [
      "an amount of CPU, in decimal units",
      resource("cpu", { type: "AverageValue", averageValue: "2500m" }),
      "Resource",
      "cpu resource",
      "2500m",
    ],
    [
      "an amount of CPU that 1024 divides, in decimal units too",
      resource("cpu", { type: "AverageValue", averageValue: "2048" }),
      "Resource",
      "cpu resource",
      "2048",
    ],
    [
      "a share of one container",
      CPU_OF_APP,
      "ContainerResource",
      "cpu resource of container app",
      "7%",
    ],
    [
      "an average over pods",
      {
        type: "Pods",
        pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "3" } },
      },
      "Pods",
      "pods metric rps",
      "3",
    ],
    [
      "a whole value of an object",
      {
        type: "Object",
        object: {
          describedObject: { kind: "Service", name: "front" },
          metric: { name: "hits" },
          target: { type: "Value", value: "9" },
        },
      },
      "Object",
      "Service metric hits",
      "9",
    ],
    ["an average of a value from outside", EXTERNAL, "External", "external metric load", "1500m"],
    ["two watermarks", MARKED, "External", "external metric load", "5..10"],
  ])("%s", (_, metric, type, name, target) => {
    const spec = specOf(hpa({ metrics: [metric], ...(target.includes("..") && { behavior: {} }) }));
    expect(targets(spec)).toEqual([{ type, name, target }]);
  });

  it("none for a metric whose type asks for a value that it does not have: its syncs fail (hpa.md 2.5)", () => {
    const spec = {
      ...specOf(hpa({ metrics: [EXTERNAL] })),
      metrics: [{ type: "External", metric: { name: "load" }, target: { type: "Value" } }],
    };
    expect(targets(spec as AutoscalerSpec)).toEqual([
      { type: "External", name: "external metric load", target: "none" },
    ]);
  });

  it.each([
    ["of the request, where one metric has it", [EXTERNAL, CPU_60], 60],
    [
      "none for memory",
      [resource("memory", { type: "Utilization", averageUtilization: 70 })],
      undefined,
    ],
    [
      "none for an amount",
      [resource("cpu", { type: "AverageValue", averageValue: "1" })],
      undefined,
    ],
    ["none for one container, which is not the request of the pod", [CPU_OF_APP], undefined],
    ["none without CPU", [EXTERNAL], undefined],
  ])("the percentage of CPU that it aims at: %s", (_, metrics, percent) =>
    expect(cpuPercent(specOf(hpa({ metrics })))).toBe(percent),
  );

  it("its behavior, and that the largest proposal wins", () => {
    const spec = specOf(hpa({ metrics: [EXTERNAL], behavior: { scaleUp: { tolerance: "0.2" } } }));
    expect(ask(spec, (explains, own) => explains.behavior(own))).toMatchObject({
      scaleUp: { tolerance: 0.2 },
    });
    expect(
      ask(spec, (explains, own) => [
        explains.combination(own),
        explains.combined(own, [3, 8, 5]),
        explains.publishesBands,
      ]),
    ).toEqual(["Max", 8, false]);
    expect([
      takesPart(spec, "load", 1),
      rest(spec, 0),
      stoppedBy(spec, "load is missing: x"),
    ]).toEqual([true, undefined, undefined]);
  });
});

describe("what other rules say of themselves", () => {
  it("the first design has the share of CPU that it aims at", () => {
    const spec = specOf({
      apiVersion: "extensions/v1beta1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        scaleRef: { kind: "Deployment", name: "web" },
        minReplicas: 1,
        maxReplicas: 9,
        cpuUtilization: { targetPercentage: 60 },
      },
    });
    expect([targets(spec), cpuPercent(spec)]).toEqual([
      [{ type: "Resource", name: "cpu resource", target: "60%" }],
      60,
    ]);
  });

  it("the multi-threshold form publishes its marks", () => {
    const spec = specOf(hpa({ metrics: [CPU_60, MARKED], tolerance: 0.3 }));
    expect(ask(spec, ({ publishesBands }) => publishesBands)).toBe(true);
  });

  it.each([
    ["is not acted upon", watermark(), "a value of 0 only counts with tolerateZero: true"],
    ["counts where the manifest says so", watermark({ tolerateZero: true }), undefined],
    [
      "counts for an HPA with marks alone",
      specOf(hpa({ metrics: [MARKED], tolerance: 0.05 })),
      undefined,
    ],
  ])("a watermark metric at 0 %s", (_, spec, wanted) => {
    expect([besides(spec, "0"), besides(spec, "1")]).toEqual([wanted, undefined]);
    expect(targets(spec)).toEqual([
      { type: "External", name: expect.stringContaining("load"), target: "5..10" },
    ]);
    expect(ask(spec, ({ publishesBands }) => publishesBands)).toBe(true);
  });
});

describe("what the native rules say of themselves", () => {
  const marks = {
    name: "queue",
    external: { metric: "queue" },
    measure: "Average",
    watermarks: { low: 8, high: 12 },
  };
  const percent = { name: "cpu", resource: { name: "cpu" }, measure: "Percent", target: 62 };

  it("their targets and marks, in their measure", () => {
    expect(targets(native({ metrics: [{ ...LOAD, name: "load" }, marks, percent] }))).toEqual([
      { type: "External", name: "load", target: "10" },
      { type: "External", name: "queue", target: "8..12" },
      { type: "Resource", name: "cpu", target: "62%" },
    ]);
    const memory = {
      name: "memory",
      resource: { name: "memory" },
      measure: "Percent",
      watermarks: { low: 40, high: 70 },
    };
    expect(targets(native({ metrics: [memory] }))).toEqual([
      { type: "Resource", name: "memory", target: "40%..70%" },
    ]);
  });

  it.each([
    ["of the request", [LOAD, percent], 62],
    ["not of the limit", [{ ...percent, resource: { name: "cpu", of: "limit" } }], undefined],
    ["not of memory", [{ ...percent, name: "memory", resource: { name: "memory" } }], undefined],
    ["not an amount", [{ ...percent, measure: "Average", target: "100m" }], undefined],
    [
      "not two marks",
      [
        {
          name: "cpu",
          resource: { name: "cpu" },
          measure: "Percent",
          watermarks: { low: 40, high: 70 },
        },
      ],
      undefined,
    ],
    ["not a metric from outside", [LOAD], undefined],
  ])("the percentage of CPU: %s", (_, metrics, wanted) =>
    expect(cpuPercent(native({ metrics }))).toBe(wanted),
  );

  it.each([
    ["Max", 8],
    ["Min", 3],
    ["Mean", 6],
  ])("how several proposals become one: %s", (combine, count) => {
    const spec = native({ combine });
    expect(
      ask(spec, (explains, own) => [explains.combination(own), explains.combined(own, [3, 8, 5])]),
    ).toEqual([combine, count]);
    expect(ask(spec, (explains, own) => [explains.publishesBands, explains.behavior(own)])).toEqual(
      [false, undefined],
    );
  });

  it("a metric that may only scale up has a say only when it asks for more", () => {
    const spec = native({
      metrics: [
        { ...LOAD, name: "load" },
        { ...marks, scaleUpOnly: true },
      ],
    });
    expect([6, 5, 4].map((proposal) => takesPart(spec, "queue", proposal))).toEqual([
      true,
      false,
      false,
    ]);
    expect([takesPart(spec, "load", 1), takesPart(spec, "a metric of an earlier spec", 1)]).toEqual(
      [true, true],
    );
  });

  it("what wakes a workload at rest: each metric with an activation", () => {
    const idle = { replicas: 0, afterSeconds: 60 };
    const spec = native({
      minReplicas: 2,
      idle,
      metrics: [{ ...LOAD, name: "load", activation: 5 }, percent],
    });
    expect(rest(spec, 1)).toEqual({ wakesTo: 2, levels: [{ name: "load", aboveMilli: 5_000n }] });
    expect([rest(spec, 2), rest(spec, 3)]).toEqual([undefined, undefined]);
  });

  it("the metric whose absence stopped a decision, with its fallback", () => {
    const onMissing = { action: "fallback", replicas: 7, afterSeconds: 60 };
    const spec = native({
      metrics: [
        { ...LOAD, name: "load" },
        { ...marks, onMissing },
      ],
    });
    expect(stoppedBy(spec, "load is missing: no answer")).toEqual({ name: "load" });
    expect(stoppedBy(spec, "queue is missing: no answer")).toEqual({
      name: "queue",
      fallback: onMissing,
    });
    expect(stoppedBy(spec, "the pods cannot be read")).toBeUndefined();
  });
});
