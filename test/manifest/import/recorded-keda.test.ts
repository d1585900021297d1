import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RIVAL_KINDS, readRival } from "../../../lib/stack/cluster/observe/rival-kinds.ts";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

/**
 * What KEDA 2.21.0 made of a ScaledObject on a real API server: its HPA, and the object after it
 * was paused.
 */
const { scaledObject, hpa, paused }: Readonly<Record<"scaledObject" | "hpa" | "paused", Json>> =
  JSON.parse(readFileSync(join(import.meta.dirname, "recorded/keda-2.21.0.json"), "utf8"));

describe("what KEDA 2.21.0 wrote", () => {
  it("is imported with the bounds, the metrics and the disabled direction of its HPA", () => {
    const { manifests, findings } = importObjects(
      { hpas: [hpa], watermarks: [], scaledObjects: [scaledObject] },
      "same",
    );
    const { scaleTargetRef, minReplicas, maxReplicas, metrics } = hpa["spec"] as Json & {
      readonly metrics: readonly unknown[];
    };
    expect(manifests).toEqual([
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "rec", namespace: "shop", labels: { team: "shop" } },
        spec: {
          scaleTargetRef,
          minReplicas,
          maxReplicas,
          metrics: expect.arrayContaining([...metrics]),
          behavior: { scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: "Disabled" } },
        },
      },
    ]);
    expect(findings.map(({ severity, of }) => `${severity} ${of}`)).toEqual([
      "changed spec.triggers[1] (metrics-api)",
      "changed spec.fallback",
      'changed metadata.annotations["autoscaling.keda.sh/paused-scale-in"]',
    ]);
  });

  it("is a rival with its HPA, also while one direction is paused, until the whole object is", () => {
    const kind = RIVAL_KINDS.find((known) => known.kind === "ScaledObject");
    expect(readRival(hpa, "HorizontalPodAutoscaler")).toMatchObject({
      kind: "ScaledObject",
      name: "rec",
    });
    expect([kind?.idle?.(scaledObject), kind?.idle?.(paused)]).toEqual([false, true]);
  });

  it("has no manifest while it is paused", () => {
    expect(
      importObjects({ hpas: [], watermarks: [], scaledObjects: [paused] }, "same").manifests,
    ).toEqual([]);
  });
});
