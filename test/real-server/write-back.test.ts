import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { autoscalerName } from "../../lib/rules/model/ids.ts";
import { startFront } from "../control-plane/front.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import type { Scene, SceneOptions } from "./scene.ts";
import { giveStatusRole } from "./status-role.ts";

const MINUTE_MS = 60_000;

type Json = Readonly<Record<string, unknown>>;

const WEB = {
  kind: "Deployment",
  apiVersion: "apps/v1",
  plural: "deployments",
  name: "web",
  replicas: 2,
} as const;
const MERGE = "application/merge-patch+json";
const conditionOf = (object: Json, wanted: string): Json | undefined => {
  const { conditions = [] } = (object["status"] ?? {}) as { readonly conditions?: readonly Json[] };
  return conditions.find(({ type }) => type === wanted);
};

onServer("syncs of autoscalers that are objects of a real API server", (makeScene) => {
  const specsScene = async (options: SceneOptions = {}): Promise<Scene> => {
    const scene = await makeScene("written", options);
    const partitions = [{ name: "default", namespaces: [scene.namespace] }];
    await scene.service.replaceCluster({
      name: "real",
      partitions,
      specsFromCluster: ["PodAutoscaler", "WatermarkPodAutoscaler"],
    });
    return scene;
  };
  const eventsOf = async ({ admin, namespace }: Scene, name: string): Promise<readonly Json[]> => {
    const { items } = await admin(
      "GET",
      `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name%3D${name}`,
    );
    return (items as readonly Json[]).filter(({ involvedObject }) =>
      String((involvedObject as Json)["kind"]).endsWith("PodAutoscaler"),
    );
  };

  it("write status and Events of a PodAutoscaler, write nothing while nothing moves, and say why one is held or invalid", async () => {
    const scene = await specsScene();
    const { namespace, admin, service } = scene;
    await giveStatusRole(scene);
    const path = `/apis/tidemark.dev/v1/namespaces/${namespace}/podautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await admin("POST", path, MANIFESTS.native(web, "cpu"));
    expect((await scene.sync()).events).toMatchObject([{ from: 2, to: 4, outcome: "applied" }]);
    const scaled = await admin("GET", `${path}/web`);
    expect(scaled["status"]).toMatchObject({
      observedGeneration: 1,
      desiredReplicas: 4,
      targets: expect.stringContaining("200%/100%"),
    });
    expect(conditionOf(scaled, "Ready")).toMatchObject({
      status: "True",
      reason: "MetricAboveTarget",
      observedGeneration: 1,
    });
    expect(await eventsOf(scene, "web")).toMatchObject([
      { type: "Normal", reason: "SuccessfulRescale" },
    ]);

    await scene.running(web, 4);
    await scene.sync();
    await scene.sync();
    const versionOf = async () =>
      ((await admin("GET", `${path}/web`))["metadata"] as Json)["resourceVersion"];
    const version = await versionOf();
    await scene.sync();
    expect(await versionOf()).toBe(version);
    expect(await eventsOf(scene, "web")).toHaveLength(1);

    await service.freeze("maintenance");
    await scene.sync();
    expect(conditionOf(await admin("GET", `${path}/web`), "Ready")).toMatchObject({
      status: "False",
      message: expect.stringContaining("maintenance"),
    });
    await service.thaw();
    await admin("PATCH", `${path}/web`, { spec: { scaleTargetRef: { name: "gone" } } }, MERGE);
    // An object is stored once a minute at most.
    scene.later(MINUTE_MS);
    await scene.sync();
    expect(await admin("GET", `${path}/web`)).toMatchObject({ status: { observedGeneration: 2 } });
    expect(conditionOf(await admin("GET", `${path}/web`), "AbleToScale")).toMatchObject({
      status: "False",
      observedGeneration: 2,
    });
    expect((await eventsOf(scene, "web")).map(({ reason }) => reason)).toContain("FailedGetScale");
  });

  it("write the status of a WatermarkPodAutoscaler in the fields that kubectl get wpa shows", async () => {
    const scene = await specsScene();
    const { namespace, admin } = scene;
    await giveStatusRole(scene);
    const path = `/apis/datadoghq.com/v1alpha1/namespaces/${namespace}/watermarkpodautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`external ${namespace}/load-web`]: 40 });
    await admin("POST", path, MANIFESTS.watermark(web, "external"));
    expect((await scene.sync()).events).toMatchObject([{ from: 2, to: 4 }]);
    const object = await admin("GET", `${path}/web`);
    expect(object["status"]).toMatchObject({
      observedGeneration: 1,
      desiredReplicas: 4,
      currentMetrics: [
        {
          type: "External",
          external: { metricName: "load-web", currentValue: expect.any(String) },
        },
      ],
    });
    expect(conditionOf(object, "DryRun")).toMatchObject({ status: "False" });
    expect(conditionOf(object, "Ready")).toMatchObject({ status: "True" });
  });

  it("scale as ever without the right to write back", async () => {
    const scene = await specsScene();
    const path = `/apis/tidemark.dev/v1/namespaces/${scene.namespace}/podautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${scene.namespace}/web`]: 400 });
    await scene.admin("POST", path, MANIFESTS.native(web, "cpu"));
    expect((await scene.sync()).events).toMatchObject([{ from: 2, to: 4, outcome: "applied" }]);
    expect(await scene.admin("GET", `${path}/web`)).not.toHaveProperty("status");
  });

  it.each([
    ["answers no such write", () => new Promise<never>(() => {})],
    ["fails each of them", async () => ({ status: 500, body: { kind: "Status", code: 500 } })],
  ])(
    "make every scale before the first write of a status, and end in time, where the API server %s",
    { timeout: 60_000 },
    async (_, instead) => {
      const dir = mkdtempSync(join(tmpdir(), "tidemark-front-"));
      const front = await startFront(inject("cluster"), dir);
      try {
        const scene = await specsScene({ url: front.url, ca: front.ca });
        const { namespace, admin } = scene;
        await giveStatusRole(scene);
        const names = ["one", "two", "three", "four", "five"];
        for (const name of names) {
          const workload = await scene.make("Deployment", name, 2);
          await scene.running(workload, 2);
          await admin(
            "POST",
            `/apis/tidemark.dev/v1/namespaces/${namespace}/podautoscalers`,
            MANIFESTS.native(workload, "cpu"),
          );
        }
        const writes: string[] = [];
        let firstToldMs = Number.POSITIVE_INFINITY;
        front.intercept = async ({ method = "", url = "" }) => {
          if (method === "GET") return undefined;
          const isTold = /\/(status|events)\?/.test(url);
          writes.push(isTold ? "told" : "scale");
          if (isTold) firstToldMs = Math.min(firstToldMs, performance.now());
          return isTold ? instead() : undefined;
        };
        for (const cpu of [400, 800]) {
          [firstToldMs, writes.length] = [Number.POSITIVE_INFINITY, 0];
          await scene.metrics(
            Object.fromEntries(names.map((name) => [`cpu ${namespace}/${name}`, cpu])),
          );
          const { events, writtenBack } = await scene.sync();
          // Two seconds are all that may be told in; the third is for a busy machine.
          expect(performance.now() - firstToldMs).toBeLessThan(3_000);
          expect(events.map(({ outcome }) => outcome)).toEqual(names.map(() => "applied"));
          expect(writes.lastIndexOf("scale")).toBeLessThan(writes.indexOf("told"));
          expect(writtenBack).toMatchObject({ written: 0 });
          const counts = new Map(events.map(({ name, to }) => [name, to]));
          await Promise.all(
            names.map((name) =>
              scene.running({ ...WEB, name }, counts.get(autoscalerName(name)) ?? 0),
            ),
          );
        }
      } finally {
        await front.close();
        rmSync(dir, { recursive: true, force: true });
      }
    },
  );
});
