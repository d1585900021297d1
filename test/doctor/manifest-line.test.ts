import { describe, expect, it } from "vitest";
import { levelLine, lineOf, metricLine } from "../../lib/rules/doctor/manifest-line.ts";

const metricsOf = (...metrics: readonly object[]) => ({ spec: { maxReplicas: 12, metrics } });

describe("lineOf()", () => {
  it.each([
    ["spec.maxReplicas", { field: "spec.maxReplicas", value: "12" }],
    ["spec.metrics[1].target", { field: "spec.metrics[1].target", value: "60" }],
    ["spec.minReplicas", { field: "spec.minReplicas" }],
    ["spec.metrics[7].target", { field: "spec.metrics[7].target" }],
    ["spec.metrics[0].pods", { field: "spec.metrics[0].pods", value: '{"metric":"rps"}' }],
  ])("%s is found with what is written there, if anything is", (field, line) => {
    const manifest = metricsOf({ pods: { metric: "rps" } }, { target: 60 });
    expect(lineOf(manifest, field)).toEqual(line);
  });
});

describe("levelLine()", () => {
  const utilization = { target: { type: "Utilization", averageUtilization: 60 } };
  it.each([
    [
      "an HPA",
      { type: "Resource", resource: { name: "cpu", ...utilization } },
      { field: "spec.metrics[0].resource.target.averageUtilization", value: "60" },
    ],
    [
      "an HPA of v2beta1",
      { type: "Resource", resource: { name: "cpu", targetAverageUtilization: 60 } },
      { field: "spec.metrics[0].resource.targetAverageUtilization", value: "60" },
    ],
    [
      "a container of an HPA",
      { type: "ContainerResource", containerResource: { container: "app", ...utilization } },
      { field: "spec.metrics[0].containerResource.target.averageUtilization", value: "60" },
    ],
    [
      "a WatermarkPodAutoscaler",
      { type: "External", external: { highWatermark: "400", lowWatermark: "150" } },
      { field: "spec.metrics[0].external.highWatermark", value: "400" },
    ],
    [
      "a PodAutoscaler",
      { name: "cpu", resource: { name: "cpu" }, target: "60" },
      { field: "spec.metrics[0].target", value: "60" },
    ],
    [
      "a PodAutoscaler with watermarks",
      { name: "cpu", resource: { name: "cpu" }, watermarks: { low: 40, high: 70 } },
      { field: "spec.metrics[0].watermarks.high", value: "70" },
    ],
  ])("names the level of %s, where its form has it", (_form, metric, line) => {
    expect(levelLine(metricsOf(metric), 0, 1)).toEqual(line);
  });

  it.each([
    [
      "hpa",
      { type: "Resource", resource: { name: "cpu", ...utilization } },
      "resource.target.averageUtilization",
      "60",
    ],
    [
      "watermark",
      { type: "External", external: { highWatermark: "400" } },
      "external.highWatermark",
      "400",
    ],
  ])("names the level inside the rules %s of a PodAutoscaler", (rules, metric, field, value) => {
    const manifest = { spec: { rules, [rules]: { metrics: [metric] } } };
    expect(levelLine(manifest, 0, 1)).toEqual({
      field: `spec.${rules}.metrics[0].${field}`,
      value,
    });
    expect(metricLine(manifest, 0, 1)).toEqual({ field: `spec.${rules}.metrics[0]` });
  });

  it.each([
    ["spec.cpuUtilization.targetPercentage", { cpuUtilization: { targetPercentage: 60 } }],
    [
      "spec.hpa.cpuUtilization.targetPercentage",
      { hpa: { cpuUtilization: { targetPercentage: 60 } } },
    ],
  ])("names %s of the first design", (field, spec) => {
    expect(levelLine({ spec }, 0, 1)).toEqual({ field, value: "60" });
    expect(metricLine({ spec }, 0, 1)).toEqual({ field, value: "60" });
  });

  it("names the one field of an HPA of v1, and the list where the numbers differ", () => {
    const old = { spec: { targetCPUUtilizationPercentage: 60 } };
    expect(levelLine(old, 0, 1)).toEqual({
      field: "spec.targetCPUUtilizationPercentage",
      value: "60",
    });
    expect(levelLine(metricsOf({ target: 60 }), 0, 2)).toEqual({ field: "spec.metrics" });
  });
});
