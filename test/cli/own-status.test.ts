import { describe, expect, it } from "vitest";
import { kubernetesObject } from "../../lib/command/output/documents.ts";
import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";

const CPU = {
  type: "Resource",
  resource: { name: "cpu", current: { averageUtilization: 63, averageValue: "319m" } },
};
const MEMORY = {
  type: "Resource",
  resource: { name: "memory", current: { averageUtilization: 20, averageValue: "1Gi" } },
};

const viewOf = (more: Partial<AutoscalerView>): AutoscalerView =>
  ({
    ...{
      name: "web",
      namespace: "shop",
      uid: "u",
      generation: 3,
      createdAt: "2026-03-01T11:00:00.000Z",
    },
    manifest: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web" },
      spec: { maxReplicas: 9 },
    },
    conditions: [
      {
        type: "AbleToScale",
        status: "True",
        reason: "ReadyForNewScale",
        message: "m",
        since: "2026-03-01T11:30:00.000Z",
      },
    ],
    metrics: [],
    ...more,
  }) as Partial<AutoscalerView> as AutoscalerView;

describe("kubernetesObject()", () => {
  it("has the status of autoscaling/v2 and v1 beside ours, where kubectl's jsonpaths look for it", () => {
    const { status } = kubernetesObject(
      viewOf({
        currentMetrics: [MEMORY, CPU],
        lastScaleAt: "2026-03-01T11:59:15.000Z",
        observedGeneration: 3,
        currentReplicas: 4,
      }),
    );
    expect(status).toMatchObject({
      currentReplicas: 4,
      currentMetrics: [MEMORY, CPU],
      currentCPUUtilizationPercentage: 63,
      lastScaleTime: "2026-03-01T11:59:15.000Z",
      observedGeneration: 3,
      conditions: [
        {
          type: "AbleToScale",
          since: "2026-03-01T11:30:00.000Z",
          lastTransitionTime: "2026-03-01T11:30:00.000Z",
        },
      ],
    });
  });

  it("says nothing of what was not measured", () => {
    const { status } = kubernetesObject(viewOf({ currentMetrics: [{ type: "" }] }));
    expect(status).not.toHaveProperty("currentCPUUtilizationPercentage");
    expect(status).not.toHaveProperty("lastScaleTime");
  });
});
