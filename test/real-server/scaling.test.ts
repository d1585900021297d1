import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { KINDS, type KindName, MANIFESTS, type MetricName } from "./objects.ts";
import { onServer } from "./on-server.ts";
import type { Scene } from "./scene.ts";

/** The forbidden windows of the watermark manifests, and a little. */
const FORBIDDEN_MS = 1_100;
/**
 * Names have no dash: a ReplicaSet with a dash has no pods of its own under the rules of watermarks
 * (watermark.md 2.18 q).
 */
const KIND_NAMES = Object.keys(KINDS) as readonly KindName[];

/** All pods of the workload together use so many hundredths of their target. */
const setLoad = (scene: Scene, name: string, metric: MetricName, pods: number): Promise<void> => {
  const { namespace } = scene;
  switch (metric) {
    case "cpu":
      return scene.metrics({ [`cpu ${namespace}/${name}`]: pods * 100 });
    case "pods":
      return scene.metrics({ [`pods ${namespace}/${name}/rps`]: pods * 10 });
    case "external":
      return scene.metrics({ [`external ${namespace}/load-${name}`]: pods * 10 });
  }
};

onServer("on a real API server", (newScene) => {
  it.each([
    [
      "HPA manifests",
      ["cpu", "pods", "external"],
      (workload, metric) => MANIFESTS.hpa(workload, metric),
    ],
    [
      "native manifests",
      ["cpu", "pods", "external"],
      (workload, metric) => MANIFESTS.native(workload, metric),
    ],
    [
      "watermark manifests",
      ["cpu", "external"],
      (workload, metric) => MANIFESTS.watermark(workload, metric === "cpu" ? "cpu" : "external"),
    ],
  ] satisfies readonly (readonly [
    string,
    readonly MetricName[],
    (workload: Parameters<typeof MANIFESTS.hpa>[0], metric: MetricName) => object,
  ])[])(
    "%s scale Deployments, StatefulSets, ReplicaSets, ReplicationControllers and custom resources up and down by %j",
    async (name, metrics, manifestOf) => {
      const scene = await newScene(name.split(" ")[0]?.toLowerCase() ?? "");
      const subjects = await Promise.all(
        KIND_NAMES.flatMap((kind) =>
          metrics.map(async (metric) => ({
            metric,
            workload: await scene.make(kind, `${kind}${metric}`.toLowerCase(), 2),
          })),
        ),
      );
      for (const { workload, metric } of subjects) {
        await setLoad(scene, workload.name, metric, 3);
        await scene.running(workload, 2);
      }
      await scene.apply(...subjects.map(({ workload, metric }) => manifestOf(workload, metric)));
      const counts = async () =>
        Object.fromEntries(
          await Promise.all(
            subjects.map(async ({ workload }) => [workload.name, await scene.replicas(workload)]),
          ),
        );
      const all = (count: number) =>
        Object.fromEntries(subjects.map(({ workload }) => [workload.name, count]));
      const up = await scene.sync();
      expect(await counts()).toEqual(all(3));
      expect(up.events.map(({ outcome }) => outcome)).toEqual(subjects.map(() => "applied"));
      for (const { workload, metric } of subjects) await setLoad(scene, workload.name, metric, 1);
      await wait(FORBIDDEN_MS);
      for (const { workload } of subjects)
        if (workload.kind !== "Fleet") await scene.running(workload, 3);
      await scene.sync();
      expect(await counts()).toEqual(all(1));
    },
  );
});
