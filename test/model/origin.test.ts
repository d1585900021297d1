import { expect, it } from "vitest";
import { kindsReadFrom, originIn, type ClusterOrigin } from "../../lib/rules/model/records.ts";

const origin: ClusterOrigin = {
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  uid: "object-1",
  generation: 3,
};

it("a cluster reads the kinds that its record names, and none by default", () => {
  expect(kindsReadFrom({})).toEqual([]);
  expect(kindsReadFrom({ specsFromCluster: [] })).toEqual([]);
  expect(kindsReadFrom({ specsFromCluster: ["WatermarkPodAutoscaler"] })).toEqual([
    {
      kind: "WatermarkPodAutoscaler",
      apiVersion: "datadoghq.com/v1alpha1",
      group: "datadoghq.com",
      version: "v1alpha1",
      plural: "watermarkpodautoscalers",
      annotations: [
        "wpa.datadoghq.com/skip-owner-check",
        "wpa.datadoghq.com/lifecycle-control.enabled",
        "wpa.datadoghq.com/logs-attributes",
      ],
    },
  ]);
  expect(
    kindsReadFrom({ specsFromCluster: ["WatermarkPodAutoscaler", "PodAutoscaler"] })[0],
  ).toEqual({
    kind: "PodAutoscaler",
    apiVersion: "tidemark.dev/v1",
    group: "tidemark.dev",
    version: "v1",
    plural: "podautoscalers",
    annotations: [],
  });
});

it("an object decides about its autoscaler only while its cluster reads that kind", () => {
  expect(originIn({ specsFromCluster: ["PodAutoscaler"] }, { origin })).toBe(origin);
  expect(originIn({ specsFromCluster: ["WatermarkPodAutoscaler"] }, { origin })).toBeUndefined();
  expect(originIn({}, { origin })).toBeUndefined();
  expect(originIn({ specsFromCluster: ["PodAutoscaler"] }, {})).toBeUndefined();
});
