import { expect, it } from "vitest";
import { ANY_HOST } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";

it("settings are those of kube-controller-manager (hpa.md 2.1)", () => {
  expect(DEFAULT_SETTINGS).toEqual({
    tolerance: 0.1,
    downscaleStabilizationMs: 300_000,
    cpuInitializationPeriodMs: 300_000,
    initialReadinessDelayMs: 30_000,
  });
});

it("an asterisk allows the recommenders of every host", () => {
  expect(ANY_HOST).toBe("*");
});

it("new windows remember nothing", () => {
  expect(NEW_WINDOWS).toEqual({
    memory: { recommendations: null, scaleUps: [], scaleDowns: [] },
    status: { conditions: [], currentReplicas: 0, desiredReplicas: 0, currentMetrics: null },
  });
});
