import { describe, expect, it } from "vitest";
import type { HpaMetric, HpaSpec, ScalingRules } from "../../../lib/rules/model/spec-hpa.ts";
import { DEFAULT_SETTINGS, type HpaVersion } from "../../../lib/rules/model/spec-common.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { podsQuery } from "../../../lib/rules/sources/pods.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { observationOf, podUsage, readyPod, readyPods, scaleRead } from "../../observation.ts";
import { limitRate } from "../../../lib/rules/policy/hpa/steps/limit.ts";
import { measureMetric } from "../../../lib/rules/policy/shared/metrics/measure-metric.ts";
import { objectQuery } from "../../../lib/rules/sources/object.ts";
import { answersOf } from "../../answers.ts";
import { decideInput } from "../applied-sync.ts";

const RESOURCE: HpaMetric = {
  type: "Resource",
  name: "cpu",
  target: { type: "Utilization", averageUtilization: 50 },
};
const AMOUNT: HpaMetric = {
  type: "Resource",
  name: "cpu",
  target: { type: "AverageValue", averageValueMilli: 50n },
};
const CONTAINER: HpaMetric = {
  type: "ContainerResource",
  name: "cpu",
  container: "app",
  target: { type: "Utilization", averageUtilization: 50 },
};
const PODS: HpaMetric = {
  type: "Pods",
  metric: { name: "jobs" },
  target: { type: "AverageValue", averageValueMilli: 50n },
};

/** Four pods with so many thousandths each, beside six of another phase without a value. */
const wanted = (metric: HpaMetric, uses: bigint, phase: string, hpaVersion?: HpaVersion) => {
  const spec: HpaSpec = {
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 20,
    metrics: [metric],
  };
  const running = readyPods(4);
  const others = Array.from({ length: 6 }, (_, at) => readyPod(`done-${at}`, 100n, { phase }));
  const jobs = podsQuery({ name: "jobs" }, "app=web");
  const samples = running.map(({ name }) => ({ describes: name, milli: uses, timestampMs: 0 }));
  const { metrics } = decide(
    decideInput({
      spec,
      observation: observationOf({
        scale: scaleRead(4),
        pods: [...running, ...others],
        answers: {
          resource: {
            kind: "answered",
            items: labelIndex(running.map(({ name }) => podUsage(name, { cpu: uses }))),
          },
          custom: new Map(
            jobs ? [[queryKey(jobs), { kind: "answered", items: samples } as const]] : [],
          ),
        },
      }),
      settings: { ...DEFAULT_SETTINGS, ...(hpaVersion && { hpaVersion }) },
    }),
  );
  return metrics[0]?.kind === "measured" ? metrics[0].proposal : undefined;
};

describe("the HPA of a release", () => {
  it.each([
    ["Resource", RESOURCE],
    ["Resource by amount", AMOUNT],
    ["ContainerResource", CONTAINER],
    ["Pods", PODS],
  ])("%s: Succeeded pods weaken both directions in 1.37, and not in 1.38", (_, metric) => {
    for (const version of [undefined, "1.37"] as const) {
      expect(wanted(metric, 75n, "Succeeded", version)).toBe(4);
      // 4 at 20 and 6 that are taken to be at their request, or at the target.
      expect(wanted(metric, 20n, "Succeeded", version)).toBe(4);
    }
    expect(wanted(metric, 75n, "Succeeded", "1.38")).toBe(6);
    expect(wanted(metric, 20n, "Succeeded", "1.38")).toBe(2);
  });

  it.each(["Failed", "Pending", "Unknown"])("%s pods are the same in both", (phase) => {
    for (const uses of [20n, 75n])
      expect(wanted(RESOURCE, uses, phase, "1.38")).toBe(wanted(RESOURCE, uses, phase, "1.37"));
  });

  it("a policy in percent beyond 32 bits stops the way up in 1.37, and not in 1.38", () => {
    const rules = (policies: ScalingRules["policies"]): ScalingRules => ({
      stabilizationWindowSeconds: 0,
      selectPolicy: "Max",
      policies,
    });
    const behavior = {
      scaleUp: rules([{ type: "Percent", value: 2_000_000_000, periodSeconds: 15 }]),
      scaleDown: rules([{ type: "Percent", value: 100, periodSeconds: 15 }]),
    };
    const limited = (hpaVersion: HpaVersion) =>
      limitRate(
        { current: 1_000, count: 3_000 },
        { minReplicas: 1, maxReplicas: 5_000, behavior },
        { scaleUps: [], scaleDowns: [] },
        { nowMs: 0, settings: { hpaVersion } },
      ).count;
    expect(limited("1.37")).toBe(1_000);
    expect(limited("1.38")).toBe(3_000);
  });

  it("an average of an object is called external in 1.37, and by its kind in 1.38", () => {
    const metric: HpaMetric = {
      type: "Object",
      describedObject: { apiVersion: "v1", kind: "Service", name: "front" },
      metric: { name: "rate" },
      target: { type: "AverageValue", averageValueMilli: 10_000n },
    };
    const asked = objectQuery({ name: "rate" }, metric.describedObject, "shop");
    const named = (hpaVersion: HpaVersion) =>
      measureMetric(metric, {
        namespace: "shop",
        currentReplicas: 1,
        statusReplicas: 1,
        podSelector: [],
        pods: [],
        answers: answersOf({
          custom: new Map(
            asked
              ? [
                  [
                    queryKey(asked),
                    {
                      kind: "answered",
                      items: [{ describes: "front", milli: 40_000n, timestampMs: 0 }],
                    } as const,
                  ],
                ]
              : [],
          ),
        }),
        tolerance: { up: 0.1, down: 0.1 },
        readiness: { nowMs: 0, ...DEFAULT_SETTINGS, hpaVersion },
      }).name;
    expect(named("1.37")).toBe("external metric rate(nil)");
    expect(named("1.38")).toBe("Service metric rate");
  });
});
