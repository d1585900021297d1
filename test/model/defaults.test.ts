import { expect, it } from "vitest";
import { autoscalerName, autoscalerUid, clusterName, namespace, partitionName, WHOLE_CLUSTER } from "../../lib/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/model/settings.ts";
import { NEW_WINDOWS } from "../../lib/model/windows.ts";

it("names are the texts that they were made of", () => {
  const names = [clusterName, partitionName, namespace, autoscalerName, autoscalerUid].map((name) => name("web"));
  expect([...names, WHOLE_CLUSTER]).toEqual(["web", "web", "web", "web", "web", "default"]);
});

it("settings are those of kube-controller-manager (hpa.md 2.1)", () => {
  expect(DEFAULT_SETTINGS).toEqual({
    tolerance: 0.1,
    downscaleStabilizationMs: 300_000,
    cpuInitializationPeriodMs: 300_000,
    initialReadinessDelayMs: 30_000,
  });
});

it("new windows remember nothing", () => {
  expect(NEW_WINDOWS).toEqual({
    memory: { recommendations: null, scaleUps: [], scaleDowns: [] },
    status: { conditions: [], currentReplicas: 0, desiredReplicas: 0, currentMetrics: null },
  });
});
