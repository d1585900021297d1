import { describe, expect, it } from "vitest";
import { asHpaMetric, longestPeriodSeconds, type NativeSource, type NativeSpec } from "../../lib/model/spec-native.ts";

const RULES: NativeSpec["scaleUp"] = {
  sustainSeconds: 0,
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [],
  countedChanges: "Both",
  stepMinimum: 1,
  replicaModulo: 1,
  forbiddenAfterEventSeconds: 0,
};

describe("asHpaMetric()", () => {
  const cpu: NativeSource = { type: "Resource", name: "cpu", of: "limit" };
  it.each<[string, Parameters<typeof asHpaMetric>[0], object]>([
    [
      "percent of a resource",
      { source: cpu, measure: "Percent" },
      { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
    ],
    [
      "percent of a container's resource",
      { source: { ...cpu, container: "app" }, measure: "Percent" },
      { type: "ContainerResource", name: "cpu", container: "app", target: { type: "Utilization", averageUtilization: 80 } },
    ],
    [
      "mean of pods",
      { source: { type: "Pods", metric: { name: "rps" } }, measure: "Average" },
      { type: "Pods", metric: { name: "rps" }, target: { type: "AverageValue", averageValueMilli: 80_500n } },
    ],
    [
      "total from outside",
      { source: { type: "External", metric: { name: "lag" } }, measure: "Total" },
      { type: "External", metric: { name: "lag" }, target: { type: "Value", valueMilli: 80_500n } },
    ],
  ])("gives the metric for a %s", (_, metric, expected) => expect(asHpaMetric(metric, 80_500n)).toStrictEqual(expected));
});

describe("longestPeriodSeconds()", () => {
  const policy = (periodSeconds: number) => ({ ...RULES, policies: [{ type: "Pods", valueMilli: 1_000, periodSeconds } as const] });
  it.each([
    ["no policy and no budget", {}, 0],
    ["the way up", { scaleUp: policy(600), scaleDown: policy(60) }, 600],
    ["the way down", { scaleUp: policy(60), scaleDown: policy(900) }, 900],
    ["the flap budget", { scaleUp: policy(60), flapBudget: { reversals: 2, periodSeconds: 1_800 } }, 1_800],
  ])("is of %s", (_, changed, seconds) => {
    const spec: NativeSpec = {
      dialect: "native",
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 9,
      metrics: [],
      combine: "Max",
      scaleUp: RULES,
      scaleDown: RULES,
      ...changed,
    };
    expect(longestPeriodSeconds(spec)).toBe(seconds);
  });
});
