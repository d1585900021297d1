import { describe, expect, it } from "vitest";
import type { Scale } from "../../lib/rules/model/decision.ts";
import type { HpaSpec } from "../../lib/rules/model/spec-hpa.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { afterWrite, withScale } from "../../lib/rules/policy/dialects.ts";

const AT_MS = 1_000_000;
const rules = {
  selectPolicy: "Max" as const,
  policies: [{ type: "Pods" as const, value: 1, periodSeconds: 60 }],
};
const SPEC: HpaSpec = {
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 0,
  maxReplicas: 9,
  metrics: [
    {
      type: "External",
      metric: { name: "load" },
      target: { type: "AverageValue", averageValueMilli: 1n },
    },
  ],
  behavior: { scaleUp: rules, scaleDown: rules },
};
const WINDOWS: Windows = {
  ...NEW_WINDOWS,
  status: { ...NEW_WINDOWS.status, currentReplicas: 4, desiredReplicas: 4 },
};
const decision = (from: number, to: number): Scale => ({
  kind: "scale",
  from,
  to,
  trigger: "All metrics below target",
  because: { reason: "AllMetricsBelowTarget", message: "All metrics below target" },
  metrics: [],
  steps: [],
  events: [{ type: "Warning", reason: "FailedGetExternalMetric", message: "earlier" }],
  windows: WINDOWS,
});
const types = ({ status: { conditions } }: Windows) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe("afterWrite()", () => {
  it("keeps the earliest time of a change where it is known", () => {
    const report = {
      spec: SPEC,
      decision: decision(4, 2),
      outcome: { kind: "unknown", message: "timed out" } as const,
      atMs: AT_MS,
    };
    expect(
      afterWrite({ ...report, earliestMs: 0, eventId: "e1" }).windows.memory.scaleDowns,
    ).toStrictEqual([{ change: 2, atMs: AT_MS, earliestMs: 0, eventId: "e1" }]);
    expect(afterWrite(report).windows.memory.scaleDowns).toStrictEqual([
      { change: 2, atMs: AT_MS },
    ]);
  });

  it.each([{ kind: "applied" } as const, { kind: "unknown", message: "timed out" } as const])(
    "counts a write that was $kind",
    (outcome) => {
      const { windows, events } = afterWrite({
        spec: SPEC,
        decision: decision(4, 2),
        outcome,
        atMs: AT_MS,
        eventId: "e1",
      });
      expect(windows.memory.scaleDowns).toEqual([{ change: 2, atMs: AT_MS, eventId: "e1" }]);
      expect(windows.status).toMatchObject({
        currentReplicas: 4,
        desiredReplicas: 2,
        lastScaleMs: AT_MS,
      });
      expect(types(windows)).toEqual([
        "AbleToScale=True SucceededRescale",
        "ScaledToZero=False NotScaledToZero",
      ]);
      expect(windows.status.conditions[0]).toMatchObject({
        message: "the HPA controller was able to update the target scale to 2",
        transitionMs: AT_MS,
      });
      expect(events.slice(1)).toEqual([
        {
          type: "Normal",
          reason: "SuccessfulRescale",
          message: "New size: 2; reason: All metrics below target",
        },
      ]);
      expect(events[0]?.message).toBe("earlier");
    },
  );

  it("changes nothing but the condition when the write was refused", () => {
    const outcome = { kind: "refused", message: "quota" } as const;
    const { windows, events } = afterWrite({
      spec: SPEC,
      decision: decision(4, 2),
      outcome,
      atMs: AT_MS,
    });
    expect(windows.memory).toBe(WINDOWS.memory);
    expect(windows.status).toMatchObject({ currentReplicas: 4, desiredReplicas: 4 });
    expect(windows.status).not.toHaveProperty("lastScaleMs");
    expect(types(windows)).toEqual(["AbleToScale=False FailedUpdateScale"]);
    expect(events.at(-1)).toEqual({
      type: "Warning",
      reason: "FailedRescale",
      message: "New size: 2; reason: All metrics below target; error: quota",
    });
  });

  it("keeps no event id that it was not given", () => {
    const { windows } = afterWrite({
      spec: SPEC,
      decision: decision(4, 6),
      outcome: { kind: "applied" },
      atMs: AT_MS,
    });
    expect(windows.memory.scaleUps).toEqual([{ change: 2, atMs: AT_MS }]);
  });
});

describe("ScaledToZero", () => {
  const cpu: HpaSpec["metrics"] = [
    { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
  ];
  const object: HpaSpec["metrics"] = [
    {
      type: "Object",
      metric: { name: "o" },
      describedObject: { kind: "Service", name: "s" },
      target: { type: "Value", valueMilli: 1n },
    },
  ];

  it.each<[string, Partial<HpaSpec>, number, number, string]>([
    ["to zero on an External metric", {}, 4, 0, "True"],
    ["to zero on an Object metric", { metrics: object }, 4, 0, "True"],
    ["to zero on one of several metrics", { metrics: [...cpu, ...SPEC.metrics] }, 4, 0, "True"],
    ["to zero without a metric that could wake it", { metrics: cpu }, 4, 0, "False"],
    ["to zero with a minimum above it", { minReplicas: 1 }, 4, 0, "False"],
    ["from zero", {}, 0, 1, "False"],
    ["elsewhere", {}, 4, 2, "False"],
  ])("says ScaledToZero of a scale %s", (_, more, from, to, status) => {
    const written = afterWrite({
      spec: { ...SPEC, ...more },
      decision: decision(from, to),
      outcome: { kind: "applied" },
      atMs: AT_MS,
    });
    expect(
      written.windows.status.conditions.find(({ type }) => type === "ScaledToZero")?.status,
    ).toBe(status);
  });

  /**
   * Scaled to zero, answer lost; the minimum was raised before the scale was settled. Without the
   * condition the workload would have rested for ever.
   */
  it.each<[string, Partial<HpaSpec>]>([
    ["the minimum was raised", { minReplicas: 2 }],
    ["no metric can wake it any more", { metrics: cpu }],
  ])("is said of a scale to zero that is settled after %s", (_, more) => {
    const { conditions } = withScale(
      WINDOWS,
      { ...SPEC, ...more },
      { from: 4, to: 0, atMs: AT_MS },
    ).status;
    expect(conditions.find(({ type }) => type === "ScaledToZero")?.status).toBe("True");
  });

  it.each([
    [0, 3],
    [4, 2],
  ])("is not said of a scale from %i to %i that is settled later", (from, to) => {
    const { conditions } = withScale(WINDOWS, SPEC, { from, to, atMs: AT_MS }).status;
    expect(conditions.find(({ type }) => type === "ScaledToZero")?.status).toBe("False");
  });
});

describe("withScale()", () => {
  it("counts an event once, however often it is settled", () => {
    const change = { from: 4, to: 6, atMs: AT_MS, eventId: "e1" };
    const once = withScale(WINDOWS, SPEC, change);
    expect(withScale(once, SPEC, change)).toEqual(once);
  });
});
