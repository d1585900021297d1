import { describe, expect, it } from "vitest";
import { readRival } from "../../../lib/stack/cluster/observe/rival-kinds.ts";

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: `it is ${reason}`,
});
const ACTIVE = condition("ScalingActive", "True", "ValidMetricFound");
const ABLE = condition("AbleToScale", "True", "ReadyForNewScale");
const shown = (status: object) =>
  readRival(
    {
      metadata: { name: "web", uid: "u-1" },
      spec: {},
      status: { currentReplicas: 3, desiredReplicas: 5, ...status },
    },
    "HorizontalPodAutoscaler",
  );

describe("readRival()", () => {
  it("reads uid, desired count, last scale and the condition that says most", () => {
    expect(shown({ lastScaleTime: "2026-03-01T12:00:00Z", conditions: [ABLE, ACTIVE] })).toEqual({
      kind: "HorizontalPodAutoscaler",
      name: "web",
      uid: "u-1",
      desiredReplicas: 5,
      lastScaleMs: Date.UTC(2026, 2, 1, 12),
      because: { reason: "ValidMetricFound", message: "it is ValidMetricFound" },
    });
  });

  it.each([
    [
      "FailedGetResourceMetric",
      [
        ABLE,
        condition("ScalingActive", "False", "FailedGetResourceMetric"),
        condition("ScalingLimited", "True", "TooManyReplicas"),
      ],
    ],
    ["TooManyReplicas", [ABLE, ACTIVE, condition("ScalingLimited", "True", "TooManyReplicas")]],
    [
      "ScaleDownStabilized",
      [
        condition("AbleToScale", "True", "ScaleDownStabilized"),
        ACTIVE,
        condition("ScalingLimited", "False", "DesiredWithinRange"),
      ],
    ],
  ])("takes %s for the reason of the count", (reason, conditions) => {
    expect(shown({ conditions }).because?.reason).toBe(reason);
  });

  it("gives no count of a controller that has not decided yet: its desired count of 0 means nothing", () => {
    expect(shown({ desiredReplicas: 0 })).toEqual({
      kind: "HorizontalPodAutoscaler",
      name: "web",
      uid: "u-1",
    });
  });

  it("takes the HPA that KEDA makes for the ScaledObject that owns it", () => {
    const ownerReferences = [{ kind: "ScaledObject", name: "queue" }];
    const raw = {
      metadata: { name: "keda-hpa-queue", uid: "u-2", ownerReferences },
      status: { desiredReplicas: 4, conditions: [ACTIVE] },
    };
    expect(readRival(raw, "HorizontalPodAutoscaler")).toMatchObject({
      kind: "ScaledObject",
      name: "queue",
      desiredReplicas: 4,
    });
    expect(readRival(raw, "HorizontalPodAutoscaler")).not.toHaveProperty("uid");
  });

  it("makes the words of another controller safe to print", () => {
    const conditions = [
      { ...ACTIVE, message: "red \u001b[31m" },
      { ...ABLE, reason: "no reason" },
    ];
    expect(shown({ conditions }).because?.message).toBe("red \\u{1b}[31m");
  });
});
