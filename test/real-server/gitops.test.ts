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
  const object = workloadObject({
    kind: "Deployment",
    apiVersion: "apps/v1",
    plural: "deployments",
    name,
    replicas: replicas ?? 1,
  }) as {
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

  it("has one replica until the next sync where only its tool owned the count that is taken out, unless another manager was made an owner before", async () => {
    const scene = await newScene("gitops");
    const { namespace, admin } = scene;
    const web = await scene.make("Deployment", "web", 4);
    const path = objectPath(namespace, web);
    await scene.running(web, 4);
    await scene.apply(MANIFESTS.hpa(web, "cpu"));
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    await scene.sync();
    const owners = async (): Promise<readonly string[]> => {
      const { metadata } = (await admin("GET", path)) as {
        readonly metadata: {
          readonly managedFields: readonly {
            readonly manager: string;
            readonly fieldsV1: { readonly "f:spec"?: object };
          }[];
        };
      };
      return metadata.managedFields
        .filter(({ fieldsV1 }) => Object.hasOwn(fieldsV1["f:spec"] ?? {}, "f:replicas"))
        .map(({ manager }) => manager);
    };
    // The tool sets another count, and the load is already that of this count: Tidemark writes
    // nothing.
    await applyAs(scene, "gitops", path, inGit("web", 3));
    await scene.metrics({ [`cpu ${namespace}/web`]: 300 });
    await scene.running(web, 3);
    expect((await scene.sync()).events).toEqual([]);
    expect(await owners()).toEqual(["gitops"]);
    await applyAs(scene, "gitops", path, inGit("web"));
    expect(await scene.replicas(web)).toBe(1);
    await scene.running(web, 1);
    await scene.sync();
    expect(await scene.replicas(web)).toBe(3);
    // The same with the step of docs/migrating.md before.
    await applyAs(scene, "gitops", path, inGit("web", 3));
    const { apiVersion, kind } = web;
    await applyAs(scene, "handover", path, {
      apiVersion,
      kind,
      metadata: { name: "web" },
      spec: { replicas: 3 },
    });
    expect((await owners()).toSorted()).toEqual(["gitops", "handover"]);
    await applyAs(scene, "gitops", path, inGit("web"));
    expect([await scene.replicas(web), await owners()]).toEqual([3, ["handover"]]);
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
