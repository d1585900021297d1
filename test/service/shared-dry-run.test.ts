import { afterEach, describe, expect, it } from "vitest";
import { type SeriesWorld, seriesWorld } from "./series-world.ts";

const head = (apiVersion: string, kind: string, name: string): string => `apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 20
`;
const wpa = (
  name: string,
  dryRun = false,
): string => `${head("datadoghq.com/v1alpha1", "WatermarkPodAutoscaler", name)}  dryRun: ${dryRun}
  metrics: [{ type: External, external: { metricName: lag, metricSelector: {}, highWatermark: "400", lowWatermark: "150" } }]
`;
const trial = `${head("tidemark.dev/v1", "PodAutoscaler", "trial")}  dryRun: true
  metrics: [{ external: { metric: lag }, measure: Average, target: 100 }]
`;

let world: SeriesWorld;
afterEach(() => world.close());

/**
 * Each autoscaler's last reason after a sync of 4 replicas under a load of 2,000, and the count of
 * the workload.
 */
const played = async (...manifests: readonly string[]) => {
  world = await seriesWorld({ web: 4 }, manifests.join("---\n"));
  world.milli = 2_000_000n;
  await world.play(1);
  const because: Record<string, string | undefined> = {};
  for await (const { name, decision } of world.service.autoscalers({}))
    because[name] = decision?.reason;
  return { because, replicas: world.cluster.workloads.get("web")?.replicas };
};

describe("two autoscalers of one workload", () => {
  it("hold both, when both would write", async () =>
    expect(await played(wpa("web"), wpa("other"))).toEqual({
      because: { web: "TargetShared", other: "TargetShared" },
      replicas: 4,
    }));

  it.each([
    ["a WatermarkPodAutoscaler", wpa("trial", true)],
    ["native rules", trial],
  ])(
    "let the one act that writes while the other is a dry run of %s, which decides as well",
    async (_, dry) => {
      const { because, replicas } = await played(wpa("web"), dry);
      expect(replicas).toBe(6);
      expect(because["web"]).not.toBe("TargetShared");
      expect(because["trial"]).toBe("DryRun");
    },
  );
});
