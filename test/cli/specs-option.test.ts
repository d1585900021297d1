import { describe, expect, it } from "vitest";
import { clusterChange } from "../../lib/command/options/cluster-options.ts";

const kinds = (specs: string) => clusterChange("eu-1", { specs }).specsFromCluster;

describe("cluster add --specs", () => {
  it("reads both kinds from the cluster, none, or those that are named", () => {
    expect(kinds("cluster")).toEqual(["PodAutoscaler", "WatermarkPodAutoscaler"]);
    expect(kinds("table")).toEqual([]);
    expect(kinds("WatermarkPodAutoscaler=cluster,PodAutoscaler=table")).toEqual([
      "WatermarkPodAutoscaler",
    ]);
    expect(clusterChange("eu-1", {}).specsFromCluster).toBeUndefined();
  });

  it.each([
    "git",
    "",
    "PodAutoscaler",
    "HorizontalPodAutoscaler=cluster",
    "PodAutoscaler=git",
    "PodAutoscaler=cluster=table",
  ])("refuses %j, and says what can be given", (text) => {
    expect(() => kinds(text)).toThrow(
      `Cannot read --specs "${text}": give table, cluster, or KIND=cluster for one of PodAutoscaler and WatermarkPodAutoscaler`,
    );
  });
});
