import { expect, it } from "vitest";
import { MANIFESTS, workloadObject } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { objectPath, type Scene } from "./scene.ts";

const APPLY = "application/apply-patch+yaml";

/** A server-side apply with force, as Flux and Argo CD send it. */
const applyAs = (scene: Scene, manager: string, path: string, object: object) =>
  scene.admin("PATCH", `${path}?fieldManager=${manager}&force=true`, object, APPLY);

/** The manifest of a Deployment in Git, with or without its count. */
const inGit = (name: string, replicas?: number): object => {
  const object = workloadObject({ kind: "Deployment", apiVersion: "apps/v1", plural: "deployments", name, replicas: replicas ?? 1 }) as {
    readonly spec: { readonly replicas: number };
  };
  const { replicas: _count, ...spec } = object.spec;
  return { ...object, spec: { ...spec, ...(replicas !== undefined && { replicas }) } };
};

onServer("a Deployment that GitOps applies", (newScene) => {
  it("keeps the count of Tidemark while its manifest has no replicas, also after they were taken out of it", async () => {
    const scene = await newScene("gitops");
    const { namespace } = scene;
    const web = await scene.make("Deployment", "web", 2);
    const path = objectPath(namespace, web);
    await applyAs(scene, "gitops", path, inGit("web", 2));
    await scene.running(web, 2);
    await scene.apply(MANIFESTS.hpa(web, "cpu"));
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await scene.sync();
    expect(await scene.replicas(web)).toBe(4);
    await applyAs(scene, "gitops", path, inGit("web"));
    await applyAs(scene, "gitops", path, inGit("web"));
    expect(await scene.replicas(web)).toBe(4);
  });

  it("loses the count to a manifest with replicas, until the next sync puts it back", async () => {
    const scene = await newScene("gitops");
    const { namespace } = scene;
    const web = await scene.make("Deployment", "web", 4);
    await scene.running(web, 4);
    await scene.apply(MANIFESTS.hpa(web, "cpu"));
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await scene.sync();
    await applyAs(scene, "gitops", objectPath(namespace, web), inGit("web", 2));
    expect(await scene.replicas(web)).toBe(2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await scene.sync();
    expect(await scene.replicas(web)).toBe(4);
  });

  it("has an HPA in Git that comes back after it was deleted: Tidemark is in its shadow again, and writes nothing", async () => {
    const scene = await newScene("gitops");
    const { namespace, admin } = scene;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 200 });
    const manifest = MANIFESTS.hpa(web, "cpu");
    await scene.apply(manifest);
    await scene.sync();
    await applyAs(scene, "gitops", `${hpas}/web`, manifest);
    for (let syncs = 0; syncs < 4; syncs++) expect((await scene.sync()).events).toEqual([]);
    expect((await scene.service.get({ name: "web" })).state).toBe("shadow");
    await admin("DELETE", `${hpas}/web`);
  });
});
