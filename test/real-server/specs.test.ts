import { expect, it } from "vitest";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import type { Scene } from "./scene.ts";
import { giveStatusRole } from "./status-role.ts";

const MINUTE_MS = 60_000;

const MERGE = "application/merge-patch+json";
const pathOf = (
  scene: Scene,
  kind: "tidemark.dev/v1/podautoscalers" | "datadoghq.com/v1alpha1/watermarkpodautoscalers",
): string => {
  const [group, version, plural] = kind.split("/");
  return `/apis/${group}/${version}/namespaces/${scene.namespace}/${plural}`;
};

onServer("autoscalers that are objects of a real API server", (makeScene) => {
  /** The files share one cluster, so that each scene reads only its own namespace. */
  const specsScene = async (): Promise<Scene> => {
    const scene = await makeScene("specs");
    await scene.service.replaceCluster({
      name: "real",
      partitions: [{ name: "default", namespaces: [scene.namespace] }],
      specsFromCluster: ["PodAutoscaler", "WatermarkPodAutoscaler"],
    });
    return scene;
  };

  it("scale from the sync after they were made, follow an edit and a label, end when they are deleted, and start anew under another uid", async () => {
    const scene = await specsScene();
    const { namespace, admin, service } = scene;
    const path = pathOf(scene, "tidemark.dev/v1/podautoscalers");
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    const made = await admin(
      "POST",
      `${path}?fieldManager=argocd-controller`,
      MANIFESTS.native(web, "cpu"),
    );
    const { uid } = made["metadata"] as { readonly uid: string };
    expect((await scene.sync()).events).toMatchObject([
      { from: 2, to: 4, outcome: "applied", uid, specGeneration: 1 },
    ]);
    expect(await service.get({ name: "web" })).toMatchObject({
      uid,
      updatedBy: 'field manager "argocd-controller"',
      origin: { kind: "PodAutoscaler", generation: 1 },
    });

    await admin(
      "PATCH",
      `${path}/web?fieldManager=kubectl-edit`,
      { spec: { minReplicas: 6 } },
      MERGE,
    );
    // An object is stored once a minute at most.
    scene.later(MINUTE_MS);
    expect((await scene.sync()).events).toMatchObject([{ from: 4, to: 6, specGeneration: 2 }]);
    expect((await service.get({ name: "web" })).updatedBy).toBe('field manager "kubectl-edit"');
    // A label is no new generation, and is followed all the same.
    await admin("PATCH", `${path}/web`, { metadata: { labels: { team: "shop" } } }, MERGE);
    scene.later(MINUTE_MS);
    await scene.sync();
    expect((await service.get({ name: "web" })).manifest).toMatchObject({
      metadata: { labels: { team: "shop" } },
    });

    await admin("DELETE", `${path}/web`);
    await scene.sync();
    expect((await service.get({ name: "web" })).origin?.goneAt).toBeDefined();
    scene.later(MINUTE_MS);
    await scene.sync();
    await expect(service.get({ name: "web" })).rejects.toThrow("no object has that name");
    expect(await scene.replicas(web)).toBe(6);

    const again = await admin("POST", path, MANIFESTS.native(web, "cpu"));
    await scene.sync();
    expect((await service.get({ name: "web" })).uid).toBe(
      (again["metadata"] as { readonly uid: string }).uid,
    );
  });

  it("are being deleted while a finalizer keeps them: they hold with their windows, and end when the object is gone", async () => {
    const scene = await specsScene();
    const { namespace, admin, service } = scene;
    const path = pathOf(scene, "tidemark.dev/v1/podautoscalers");
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    const manifest = MANIFESTS.native(web, "cpu");
    await admin("POST", path, {
      ...manifest,
      metadata: { name: "web", finalizers: ["team.example/keep"] },
      spec: { ...manifest.spec, scaleDown: { stabilizationWindowSeconds: 300 } },
    });
    expect((await scene.sync()).events).toMatchObject([{ from: 2, to: 4 }]);
    const oldest = async (): Promise<string | undefined> =>
      (await service.explain({ name: "web" })).windows.recommendations[0]?.first;
    const before = await oldest();
    expect(before).toBeDefined();

    await admin("DELETE", `${path}/web`);
    expect((await admin("GET", `${path}/web`))["metadata"]).toHaveProperty("deletionTimestamp");
    await scene.metrics({ [`cpu ${namespace}/web`]: 900 });
    for (let syncs = 0; syncs < 3; syncs++) {
      scene.later(MINUTE_MS);
      expect((await scene.sync()).events).toEqual([]);
    }
    const held = await service.get({ name: "web" });
    expect([held.heldBy, held.decision?.reason, held.origin?.goneAt]).toEqual([
      "being deleted",
      "ObjectDeleting",
      undefined,
    ]);
    expect(held.decision?.message).toContain("metadata.finalizers");
    expect([await oldest(), await scene.replicas(web)]).toEqual([before, 4]);

    await admin("PATCH", `${path}/web`, { metadata: { finalizers: null } }, MERGE);
    await scene.sync();
    expect((await service.get({ name: "web" })).origin?.goneAt).toBeDefined();
    scene.later(MINUTE_MS);
    await scene.sync();
    await expect(service.get({ name: "web" })).rejects.toThrow("no object has that name");
    expect(await scene.replicas(web)).toBe(4);
  });

  it("go on where a person writes their status: the next sync writes it again, and an Event names the person", async () => {
    const scene = await specsScene();
    await giveStatusRole(scene);
    const { namespace, admin, service } = scene;
    const path = pathOf(scene, "tidemark.dev/v1/podautoscalers");
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await admin("POST", path, MANIFESTS.native(web, "cpu"));
    await scene.sync();
    await scene.running(web, 4);
    await scene.sync();
    await admin(
      "PATCH",
      `${path}/web/status?fieldManager=kubectl-edit`,
      { status: { currentReplicas: 99 } },
      MERGE,
    );
    await scene.sync();
    expect((await admin("GET", `${path}/web`))["status"]).toMatchObject({ currentReplicas: 4 });
    expect((await service.get({ name: "web" })).state).toBe("active");
    const { items } = await admin("GET", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    expect(items).toContainEqual(
      expect.objectContaining({
        type: "Warning",
        reason: "StatusOverwritten",
        note: expect.stringContaining('"kubectl-edit" wrote the status'),
        regarding: expect.objectContaining({ kind: "PodAutoscaler", name: "web" }),
      }),
    );
  });

  it("of the kind WatermarkPodAutoscaler scale, and hold while their own controller still writes their status", async () => {
    const scene = await specsScene();
    const { namespace, admin, service } = scene;
    const path = pathOf(scene, "datadoghq.com/v1alpha1/watermarkpodautoscalers");
    const [web, api] = [
      await scene.make("Deployment", "web", 2),
      await scene.make("Deployment", "api", 2),
    ];
    for (const workload of [web, api]) await scene.running(workload, 2);
    await scene.metrics({
      [`external ${namespace}/load-web`]: 40,
      [`external ${namespace}/load-api`]: 40,
    });
    await admin("POST", path, MANIFESTS.watermark(web, "external"));
    await admin("POST", path, MANIFESTS.watermark(api, "external"));
    await admin(
      "PATCH",
      `${path}/api/status?fieldManager=wpa-controller`,
      { status: { currentReplicas: 2 } },
      MERGE,
    );
    const { events } = await scene.sync();
    expect(events.map(({ name, from, to }) => [name, from, to])).toEqual([["web", 2, 4]]);
    const held = await service.get({ name: "api" });
    expect([held.heldBy, held.decision?.message]).toEqual([
      "rival",
      expect.stringContaining('"wpa-controller"'),
    ]);
  });

  it("that are the second of their target hold with the first, from the table or of the other kind", async () => {
    const scene = await specsScene();
    const { namespace, admin, service } = scene;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await scene.apply({ ...MANIFESTS.hpa(web, "cpu"), metadata: { name: "stored" } });
    await admin(
      "POST",
      pathOf(scene, "tidemark.dev/v1/podautoscalers"),
      MANIFESTS.native(web, "cpu"),
    );
    expect((await scene.sync()).events).toEqual([]);
    for (const name of ["stored", "web"])
      expect((await service.get({ name })).heldBy).toBe("shared target");
    expect((await service.get({ name: "stored" })).decision?.message).toContain(
      'autoscaler "web" (a PodAutoscaler in the cluster)',
    );
  });
});
