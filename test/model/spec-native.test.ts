import { describe, expect, it } from "vitest";
import { longestPeriodSeconds, type NativeSpec } from "../../lib/rules/model/spec-native.ts";

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

describe("longestPeriodSeconds()", () => {
  const policy = (periodSeconds: number) => ({
    ...RULES,
    policies: [{ type: "Pods", valueMilli: 1_000, periodSeconds } as const],
  });
  it.each([
    ["no policy and no budget", {}, 0],
    ["the way up", { scaleUp: policy(600), scaleDown: policy(60) }, 600],
    ["the way down", { scaleUp: policy(60), scaleDown: policy(900) }, 900],
    [
      "the flap budget",
      { scaleUp: policy(60), flapBudget: { reversals: 2, periodSeconds: 1_800 } },
      1_800,
    ],
  ])("is of %s", (_, changed, seconds) => {
    const spec: NativeSpec = {
      dialect: "native",
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 9,
      metrics: [],
      pods: "owned",
      combine: "Max",
      scaleUp: RULES,
      scaleDown: RULES,
      ...changed,
    };
    expect(longestPeriodSeconds(spec)).toBe(seconds);
  });
});
