import { describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

const cpu = {
  type: "PodResource",
  podResource: { name: "cpu", value: { type: "Utilization", utilization: 70 } },
};
const imported = (spec: Json, apiVersion = "datadoghq.com/v1alpha2") => {
  const { manifests, findings } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [],
      datadog: [
        {
          apiVersion,
          kind: "DatadogPodAutoscaler",
          metadata: { name: "web", namespace: "shop" },
          spec: {
            targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            owner: "Local",
            constraints: { maxReplicas: 40 },
            ...spec,
          },
        },
      ],
    },
    "native",
  );
  return {
    spec: manifests[0]?.["spec"],
    lost: findings.filter(({ severity }) => severity === "lost"),
    findings,
  };
};

describe("a DatadogPodAutoscaler", () => {
  it("is a PodAutoscaler of its objectives, its bounds and its policy", () => {
    expect(
      imported({
        objectives: [cpu],
        applyPolicy: {
          mode: "Apply",
          scaleUp: { rules: [{ type: "Percent", value: 50, periodSeconds: 120 }] },
          scaleDown: {
            strategy: "Min",
            stabilizationWindowSeconds: 600,
            rules: [{ type: "Pods", value: 2, periodSeconds: 3600 }],
          },
        },
      }).spec,
    ).toEqual({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 40,
      metrics: [
        {
          name: "cpu",
          resource: { name: "cpu" },
          measure: "Percent",
          target: 70,
          onMissing: { action: "scaleUpOnly" },
        },
      ],
      scaleUp: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: "Percent", value: 50, periodSeconds: 120 }],
      },
      scaleDown: {
        stabilizationWindowSeconds: 600,
        selectPolicy: "Min",
        policies: [{ type: "Pods", value: 2, periodSeconds: 3600 }],
      },
    });
  });

  it("of v1alpha1 has the same fields by their former names", () => {
    expect(
      imported(
        {
          targets: [cpu],
          policy: {
            applyMode: "None",
            upscale: { rules: [{ type: "Pods", value: 4, periodSeconds: 60 }] },
            downscale: { strategy: "Disabled" },
          },
        },
        "datadoghq.com/v1alpha1",
      ).spec,
    ).toMatchObject({
      dryRun: true,
      metrics: [{ target: 70 }],
      scaleUp: { policies: [{ value: 4 }] },
      scaleDown: { selectPolicy: "Disabled" },
    });
  });

  it("with a rule of 0 does not move in that direction where the least rule counts, or only that one", () => {
    const zero = { type: "Pods", value: 0, periodSeconds: 60 };
    const two = { type: "Pods", value: 2, periodSeconds: 60 };
    const down = (strategy: string, rules: readonly Json[]) =>
      imported({
        objectives: [cpu],
        applyPolicy: { mode: "Apply", scaleDown: { strategy, rules } },
      }).spec;
    expect(down("Max", [zero])).toMatchObject({ scaleDown: { selectPolicy: "Disabled" } });
    expect(down("Min", [zero, two])).toMatchObject({ scaleDown: { selectPolicy: "Disabled" } });
    expect(down("Max", [zero, two])).toMatchObject({
      scaleDown: { selectPolicy: "Max", policies: [two] },
    });
  });

  it.each<readonly [string, Json, string]>([
    [
      "a query of Datadog",
      { objectives: [{ type: "CustomQuery", customQuery: {} }] },
      "datadogmetric@",
    ],
    ["no objective", {}, "Datadog recommends the count"],
    ["no maxReplicas", { objectives: [cpu], constraints: {} }, "a PodAutoscaler needs one"],
    [
      "requests that it changes",
      { objectives: [cpu], constraints: { maxReplicas: 4, containers: [{ name: "a" }] } },
      "Datadog changes and Tidemark does not",
    ],
    ["a burst", { objectives: [cpu], options: { burstable: true } }, "Tidemark does not"],
    [
      "a person who approves",
      { objectives: [cpu], applyPolicy: { mode: "Manual" } },
      "a person in Datadog's application decides",
    ],
  ])("is refused with %s", (_what, spec, words) => {
    const { spec: made, lost } = imported(spec);
    expect(made).toBeUndefined();
    expect(lost.map(({ message }) => message).join("\n")).toContain(words);
  });
});
