import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../../lib/model/settings.ts";
import { NEW_WINDOWS } from "../../../lib/model/windows.ts";
import { windowStates } from "../../../lib/policy/windows.ts";
import { NOON } from "../../noon.ts";
import { hpa } from "../multi-threshold/world.ts";
import { specOf } from "../spec-of.ts";

const EXTERNAL = { type: "External", external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1" } } };
const moment = { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 3 };

describe("the windows of an autoscaler that was never decided", () => {
  it("hold nothing; without behavior only the way down has one, of the length that the cluster sets (hpa.md 2.6.1)", () => {
    expect(windowStates(specOf(hpa({ metrics: [EXTERNAL] })), NEW_WINDOWS, moment)).toEqual({
      recommendations: [],
      stabilization: [{ direction: "scaleDown", windowMs: 300_000 }],
      rates: [],
    });
  });

  it("hold nothing; with behavior both ways have one, and nothing counts for any policy yet", () => {
    const policies = [{ type: "Pods", value: 2, periodSeconds: 60 }];
    const behavior = { scaleUp: { stabilizationWindowSeconds: 30, policies }, scaleDown: { selectPolicy: "Disabled" } };
    expect(windowStates(specOf(hpa({ metrics: [EXTERNAL], behavior })), NEW_WINDOWS, moment)).toMatchObject({
      recommendations: [],
      stabilization: [
        { direction: "scaleUp", windowMs: 30_000 },
        { direction: "scaleDown", windowMs: 300_000 },
      ],
      rates: [{ direction: "scaleUp", type: "Pods", value: 2, periodSeconds: 60, limiting: [], giving: [] }],
    });
  });
});
