import { describe, expect, it } from "vitest";
import type { HpaMetric, HpaSpec } from "../../../lib/rules/model/spec-hpa.ts";
import { DEFAULT_SETTINGS, type HpaVersion } from "../../../lib/rules/model/spec-common.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { podsQuery } from "../../../lib/rules/sources/pods.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { observationOf, podUsage, readyPod, readyPods, scaleRead } from "../../observation.ts";
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
});
