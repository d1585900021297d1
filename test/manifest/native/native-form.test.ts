import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../../lib/rules/manifest/admit.ts";
import { nativeForm } from "../../../lib/rules/manifest/native/native-form.ts";
import { hpa, podAutoscaler } from "../../replay/world.ts";

const formOf = (document: object) => nativeForm(admitOrThrow({ where: "test", document }));
const specOf = (document: object) => {
  const form = formOf(document);
  if (form.kind === "refused") throw new Error(form.message);
  return admitOrThrow({ where: "test", document: form.document }, { validation: "strict" }).spec;
};
const target = (name: string, more: object) => ({ metric: { name }, target: more });

describe("nativeForm()", () => {
  it("keeps the numbers of an HPA: bounds, targets, windows, policies and tolerances", () => {
    const spec = specOf(
      hpa({
        minReplicas: 3,
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 60,
            policies: [{ type: "Pods", value: 2, periodSeconds: 30 }],
          },
          scaleDown: { stabilizationWindowSeconds: 900, tolerance: "250m" },
        },
      }),
    );
    expect(spec).toMatchObject({
      ...{ dialect: "native", minReplicas: 3, maxReplicas: 20 },
      metrics: [{ name: "cpu", measure: "Percent", band: { milli: 50_000n, toleranceDown: 0.25 } }],
      scaleUp: {
        stabilizationWindowSeconds: 60,
        policies: [{ type: "Pods", valueMilli: 2_000, periodSeconds: 30 }],
      },
      scaleDown: { stabilizationWindowSeconds: 900 },
    });
  });

  it("has each source of autoscaling/v2 with its measure", () => {
    const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };
    const metrics = [
      { type: "Pods", pods: target("busy", { type: "AverageValue", averageValue: "5" }) },
      {
        type: "ContainerResource",
        containerResource: {
          ...{ name: "cpu", container: "app" },
          target: { type: "AverageValue", averageValue: "500m" },
        },
      },
      {
        type: "Object",
        object: { describedObject, ...target("rps", { type: "Value", value: "100" }) },
      },
      {
        type: "External",
        external: target("queue", { type: "AverageValue", averageValue: "30" }),
      },
    ];
    const { metrics: read } = specOf(hpa({ metrics })) as {
      readonly metrics: readonly { readonly measure: string; readonly source: { type: string } }[];
    };
    expect(read.map(({ source, measure }) => [source.type, measure])).toEqual([
      ["Pods", "Average"],
      ["ContainerResource", "Average"],
      ["Object", "Total"],
      ["External", "Average"],
    ]);
  });

  it("reads the rules of autoscaling/v2 in a PodAutoscaler as well", () => {
    const { metrics } = hpa().spec;
    const spec = specOf(podAutoscaler({ rules: "hpa", hpa: { metrics } }));
    expect(spec).toMatchObject({ dialect: "native", metrics: [{ name: "cpu" }] });
  });

  it("leaves a native manifest as it is, and names rules that have no such form", () => {
    const metrics = [{ resource: { name: "cpu" }, target: 50 }];
    expect(specOf(podAutoscaler({ metrics }))).toMatchObject({ dialect: "native" });
    const original = podAutoscaler({
      rules: "hpa",
      hpa: { cpuUtilization: { targetPercentage: 80 } },
    });
    expect(formOf(original)).toMatchObject({ kind: "refused", rule: "original" });
  });
});
