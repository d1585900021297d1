import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { inside } from "../cli/inside.ts";
import { startWholeCluster, type WholeCluster } from "../control-plane/cluster.ts";
import { type Front, startFront } from "../control-plane/front.ts";
import { UNSCHEDULED } from "../control-plane/kubelet.ts";
import { installDefinitions, POD_AUTOSCALERS } from "./definitions.ts";
import { MANIFESTS, podTemplate } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { sessionOn } from "./person.ts";
import { type Scene, type SceneOptions, until } from "./scene.ts";

/** A page of a LIST has 500 objects. */
const PODS = 510;
/** Old states are served from memory by default, and then none ever expires. */
const FLAGS = ["--feature-gates=ListFromCacheSnapshot=false"];

onServer("an API server of its own", (newScene) => {
  let cluster: WholeCluster;
  let front: Front;
  let dir: string;
  beforeAll(async () => {
    const { missing, binaries } = inject("cluster");
    if (missing !== undefined) return;
    dir = mkdtempSync(join(tmpdir(), "tidemark-outage-"));
    cluster = await startWholeCluster(binaries, { flags: FLAGS });
    front = await startFront(cluster.plane, dir);
  });
  afterAll(async () => {
    await front?.close();
    await cluster?.close();
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  });

  const sceneHere = async (options: SceneOptions = {}): Promise<Scene> => {
    const { plane, metricsUrl, tidemarkToken } = cluster;
    const own = {
      url: plane.url,
      ca: plane.ca,
      adminToken: plane.token,
      tidemarkToken,
      metricsUrl,
    };
    return newScene("outage", { cluster: own, ...options });
  };
  const threeWanted = async (options: SceneOptions = {}) => {
    const scene = await sceneHere(options);
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    await scene.metrics({ [`cpu ${scene.namespace}/web`]: 300 });
    await scene.apply(MANIFESTS.hpa(workload, "cpu"));
    return { scene, workload };
  };
  const outcomes = async (scene: Scene) =>
    (await scene.sync()).events.map(({ from, to, outcome }) => [from, to, outcome]);

  it("that is stopped between two syncs: the sync says so and holds, and the first sync after its return scales", async () => {
    const { scene, workload } = await threeWanted();
    const start = await cluster.plane.interrupt();
    const report = await scene.sync();
    expect([report.unreachable, report.events]).toEqual([true, []]);
    expect(JSON.stringify((await scene.service.get({ name: "web" })).conditions)).toContain(
      "ECONNREFUSED",
    );
    await start();
    expect(await outcomes(scene)).toEqual([[2, 3, "applied"]]);
    expect(await scene.replicas(workload)).toBe(3);
  });

  it("that is stopped between the LIST and the PUT: the write is refused, and made by the first sync after its return", async () => {
    let start: (() => Promise<void>) | undefined;
    const wrap = (client: ClusterClient): ClusterClient => ({
      ...client,
      putScale: async (write, timeoutMs) => {
        start ??= await cluster.plane.interrupt();
        return client.putScale(write, timeoutMs);
      },
    });
    const { scene, workload } = await threeWanted({ wrap });
    const broken = await outcomes(scene);
    await start?.();
    expect(broken).toEqual([[2, 3, "refused"]]);
    expect(await scene.replicas(workload)).toBe(2);
    expect(await outcomes(scene)).toEqual([[2, 3, "applied"]]);
  });

  it("whose list expires between two pages (410): the LIST starts again, and the decision is right", async () => {
    const { scene, workload } = await threeWanted({ url: front.url, ca: front.ca });
    const { namespace, admin } = scene;
    const { metadata, spec } = podTemplate("crowd", UNSCHEDULED);
    const pods = Array.from({ length: PODS }, (_, at) => `crowd-${at}`);
    await mapWithLimit(pods, 16, (name) =>
      admin("POST", `/api/v1/namespaces/${namespace}/pods`, {
        metadata: { ...metadata, name },
        spec,
      }),
    );
    let expired = 0;
    front.intercept = async ({ url = "" }) => {
      if (expired === 0 && url.includes("continue=")) {
        expired++;
        await compact(admin, namespace);
      }
      return undefined;
    };
    expect(await outcomes(scene)).toEqual([[2, 3, "applied"]]);
    expect(expired).toBe(1);
    expect(front.answered.filter((status) => status === 410)).toHaveLength(1);
    expect(await scene.replicas(workload)).toBe(3);
  });

  it("whose CRD is deleted with all objects: nothing scales or ends, status says so, and with the CRD and the objects again it scales", {
    timeout: 120_000,
  }, async () => {
    await installDefinitions(cluster.plane);
    const scene = await sceneHere();
    const { namespace, admin, service } = scene;
    await service.replaceCluster({
      name: "real",
      partitions: [{ name: "default", namespaces: [namespace] }],
      specsFromCluster: ["PodAutoscaler"],
    });
    const path = `${POD_AUTOSCALERS}/namespaces/${namespace}/podautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 300 });
    await admin("POST", path, MANIFESTS.native(web, "cpu"));
    expect(await outcomes(scene)).toEqual([[2, 3, "applied"]]);
    const status = async (): Promise<string> =>
      (await inside(["status"], { open: sessionOn(scene) })).out;
    expect(await status()).not.toContain("holds");

    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await admin("DELETE", `${definitions}/podautoscalers.tidemark.dev`);
    await until(
      "the kind is served no more",
      async () => (await cluster.plane.call("GET", path)).status === 404,
    );
    await scene.metrics({ [`cpu ${namespace}/web`]: 600 });
    for (let syncs = 0; syncs < 3; syncs++) {
      scene.later(60_000);
      expect(await outcomes(scene)).toEqual([]);
    }
    expect(await scene.replicas(web)).toBe(3);
    expect((await service.get({ name: "web" })).decision?.reason).toBe("SpecUnknown");
    const said = await status();
    expect(said).toContain(
      `Autoscaler "real/${namespace}/web" holds: the PodAutoscaler could not be read from the cluster in this sync`,
    );
    expect(said).toContain("next: tidemark cluster check real");

    await admin("POST", definitions, podAutoscalerDefinition());
    await until(
      "the kind is served again",
      async () => (await cluster.plane.call("GET", path)).status === 200,
    );
    await admin("POST", path, MANIFESTS.native(web, "cpu"));
    await until("it scales again", async () => {
      scene.later(60_000);
      await scene.sync();
      return (await scene.replicas(web)) === 6;
    });
    expect(await status()).not.toContain("holds");
  });

  /** Makes every state before this moment unreadable. */
  const compact = async (admin: Scene["admin"], namespace: string): Promise<void> => {
    const { metadata } = await admin("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: "later" },
    });
    const revision = (metadata as { readonly resourceVersion: string }).resourceVersion;
    const { status } = await fetch(`${cluster.plane.etcdUrl}/v3/kv/compaction`, {
      method: "POST",
      body: JSON.stringify({ revision, physical: true }),
    });
    if (status !== 200) throw new Error(`the compaction was answered ${status}`);
  };
});
