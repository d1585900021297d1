import { describe, expect, it } from "vitest";
import { namespace } from "../../../../lib/rules/model/ids.ts";
import type { Answers } from "../../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../../lib/rules/model/query.ts";
import { labelIndex } from "../../../../lib/rules/model/selector.ts";
import type { HpaMetric } from "../../../../lib/rules/model/spec-hpa.ts";
import { measureMetric } from "../../../../lib/rules/policy/shared/metrics/measure-metric.ts";
import type {
  Measured,
  MetricContext,
} from "../../../../lib/rules/policy/shared/metrics/measurement.ts";
import { podsQuery } from "../../../../lib/rules/sources/pods.ts";
import { answersOf } from "../../../answers.ts";
import { podUsage, readyPods } from "../../../observation.ts";

const pods = readyPods(2, 1000n);
const PODS: Extract<HpaMetric, { type: "Pods" }> = {
  type: "Pods",
  metric: { name: "jobs" },
  target: { type: "AverageValue", averageValueMilli: 500n },
};

/** Each pod uses this much of everything. */
const answers = (milli: bigint): Answers => {
  const query = podsQuery(PODS.metric, "");
  return answersOf({
    resource: {
      kind: "answered",
      items: labelIndex(
        pods.map(({ name }) => podUsage(name, { cpu: milli, memory: milli }, { windowMs: 0 })),
      ),
    },
    custom: new Map(
      query && [
        [
          queryKey(query),
          {
            kind: "answered",
            items: pods.map(({ name }) => ({
              describes: name,
              milli,
              timestampMs: 0,
              windowMs: 0,
            })),
          },
        ],
      ],
    ),
  });
};

const measured = (metric: HpaMetric, milli: bigint) => {
  const context: MetricContext = {
    namespace: namespace("shop"),
    currentReplicas: 2,
    statusReplicas: 2,
    podSelector: [],
    pods,
    answers: answers(milli),
    tolerance: { down: 0.1, up: 0.1 },
    readiness: { nowMs: 0, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 },
  };
  const { curve: _curve, counted: _counted, ...told } = measureMetric(metric, context) as Measured;
  return told;
};

describe("a measured metric, with all that is told of it", () => {
  it("says a Resource in percent of the requests", () => {
    const metric: HpaMetric = {
      type: "Resource",
      name: "cpu",
      target: { type: "Utilization", averageUtilization: 20 },
    };
    expect(measured(metric, 300n)).toStrictEqual({
      kind: "measured",
      name: "cpu resource utilization (percentage of request)",
      proposal: 3,
      value: "30%",
      target: "20%",
      ratio: 1.5,
      usageMilli: 300n,
      utilization: 30,
      status: {
        type: "Resource",
        resource: { name: "cpu", current: { averageUtilization: 30, averageValue: "300m" } },
      },
    });
  });

  it("says a ContainerResource in percent, by its own words", () => {
    const metric: HpaMetric = {
      type: "ContainerResource",
      name: "cpu",
      container: "app",
      target: { type: "Utilization", averageUtilization: 20 },
    };
    expect(measured(metric, 300n)).toMatchObject({
      name: "cpu container resource utilization (percentage of request)",
      value: "30%",
    });
  });

  it("says a Resource as an amount", () => {
    const metric: HpaMetric = {
      type: "Resource",
      name: "memory",
      target: { type: "AverageValue", averageValueMilli: 1_048_576_000n },
    };
    expect(measured(metric, 2_097_152_000n)).toStrictEqual({
      kind: "measured",
      name: "memory resource",
      proposal: 4,
      value: "2Mi",
      target: "1Mi",
      ratio: 2,
      usageMilli: 2_097_152_000n,
      status: { type: "Resource", resource: { name: "memory", current: { averageValue: "2Mi" } } },
    });
  });

  it("says a Pods metric as an average", () => {
    expect(measured(PODS, 1000n)).toStrictEqual({
      kind: "measured",
      name: "pods metric jobs",
      proposal: 4,
      value: "1",
      target: "500m",
      ratio: 2,
      usageMilli: 1000n,
      status: { type: "Pods", pods: { metric: { name: "jobs" }, current: { averageValue: "1" } } },
    });
  });

  it.each<[string, HpaMetric]>([
    ["Pods", PODS],
    [
      "Resource",
      { type: "Resource", name: "cpu", target: { type: "AverageValue", averageValueMilli: 500n } },
    ],
  ])("%s whose sum was wrapped says so", (_, metric) => {
    expect(measured(metric, 2n ** 62n + 5n)).toMatchObject({ kind: "measured", overflowed: true });
  });
});

it.each<[HpaMetric, string, string, string]>([
  [
    { type: "External", metric: { name: "load" }, target: { type: "Value" } },
    "external metric load(nil)",
    "invalid external metric source: neither a value target nor an average value target was set",
    "failed to get load external metric value: ",
  ],
  [
    { type: "Resource", name: "cpu", target: { type: "Value" } },
    "cpu resource",
    "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    "failed to get cpu resource metric value: ",
  ],
  [
    { type: "ContainerResource", name: "cpu", container: "app", target: { type: "Value" } },
    "cpu resource",
    "invalid container resource metric source: neither an average utilization target nor an average value (usage) target was set",
    "failed to get app container metric value: ",
  ],
  [
    {
      type: "Object",
      metric: { name: "o" },
      describedObject: { kind: "Service", name: "s" },
      target: { type: "Value", averageValueMilli: 5n },
    },
    "Service metric o",
    "invalid object metric source: neither a value target nor an average value target was set",
    "failed to get object metric value: ",
  ],
  [
    {
      type: "Object",
      metric: { name: "o" },
      describedObject: { kind: "Service", name: "s" },
      target: { type: "AverageValue", valueMilli: 5n },
    },
    "Service metric o",
    "invalid object metric source: neither a value target nor an average value target was set",
    "failed to get object metric value: ",
  ],
])("a metric without its target fails under its own name: %o", (metric, name, message, chain) => {
  expect(measured(metric, 1n)).toStrictEqual({
    kind: "failed",
    name,
    reason: `FailedGet${metric.type}Metric`,
    message,
    chain: `${chain}${message}`,
  });
});
