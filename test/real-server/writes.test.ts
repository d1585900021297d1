import { expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { MANIFESTS, type Workload, workloadObject } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { objectPath, type Scene, type SceneOptions } from "./scene.ts";

const MERGE = "application/merge-patch+json";

/** A client whose next PUT waits for what another does in the meantime, after the LIST. */
const interrupted = (): {
  readonly wrap: NonNullable<SceneOptions["wrap"]>;
  meanwhile: () => Promise<unknown>;
} => {
  const hook = {
    meanwhile: async (): Promise<unknown> => undefined,
    wrap: (client: ClusterClient): ClusterClient => ({
      ...client,
      putScale: async (write, timeoutMs) => {
        const run = hook.meanwhile;
        hook.meanwhile = async () => undefined;
        await run();
        return client.putScale(write, timeoutMs);
      },
    }),
  };
  return hook;
};

onServer("a PUT of the scale on a real API server", (newScene) => {
  /** A deployment of two pods whose load asks for three. */
  const threeWanted = async (dialect: keyof typeof MANIFESTS) => {
    const hook = interrupted();
    const scene = await newScene("writes", { wrap: hook.wrap });
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    await scene.metrics({ [`external ${scene.namespace}/load-web`]: 30 });
    await scene.apply(MANIFESTS[dialect](workload, "external"));
    return { hook, scene, workload };
  };
  const setCount = (scene: Scene, workload: Workload, replicas: number) =>
    scene.admin(
      "PATCH",
      `${objectPath(scene.namespace, workload)}/scale`,
      { spec: { replicas } },
      MERGE,
    );
  const outcomes = async (scene: Scene) =>
    (await scene.sync()).events.map(({ from, to, outcome }) => [from, to, outcome]);

  it.each([
    ["hpa", "writes its count over it, as the HPA controller does", 3, "applied"],
    ["native", "leaves it for the next sync", 5, "refused"],
    ["watermark", "leaves it for the next sync", 5, "refused"],
  ] as const)(
    "that meets another count: the %s dialect %s",
    async (dialect, _what, count, outcome) => {
      const { hook, scene, workload } = await threeWanted(dialect);
      hook.meanwhile = async () => {
        await setCount(scene, workload, 5);
        // Each pod that becomes ready changes the status. Without this wait, five conflicts in a
        // row are possible.
        await scene.running(workload, 5);
      };
      expect(await outcomes(scene)).toEqual([[2, 3, outcome]]);
      expect(await scene.replicas(workload)).toBe(count);
      const detail = (await scene.service.describe({ name: "web" })).events[0]?.detail ?? "";
      if (outcome === "refused") expect(detail).toContain("the object has been modified");
    },
  );

  it.each([
    ["hpa", 3, "applied"],
    ["native", 3, "applied"],
    ["watermark", 2, "refused"],
  ] as const)(
    "of a stale object, of which only a label was changed: the %s dialect has %i pods behind it",
    async (dialect, count, outcome) => {
      const { hook, scene, workload } = await threeWanted(dialect);
      hook.meanwhile = () =>
        scene.admin(
          "PATCH",
          objectPath(scene.namespace, workload),
          { metadata: { labels: { touched: "yes" } } },
          MERGE,
        );
      expect(await outcomes(scene)).toEqual([[2, 3, outcome]]);
      expect(await scene.replicas(workload)).toBe(count);
      if (outcome === "refused") expect(await outcomes(scene)).toEqual([[2, 3, "applied"]]);
      expect(await scene.replicas(workload)).toBe(3);
    },
  );

  it("never reaches a workload that was made anew under the same name; the next sync looks at the new one", async () => {
    const { hook, scene, workload } = await threeWanted("hpa");
    hook.meanwhile = async () => {
      await scene.admin("DELETE", objectPath(scene.namespace, workload));
      await scene.admin(
        "POST",
        `/apis/apps/v1/namespaces/${scene.namespace}/deployments`,
        workloadObject({ ...workload, replicas: 1 }),
      );
    };
    expect(await outcomes(scene)).toEqual([[2, 3, "unknown"]]);
    expect(await scene.replicas(workload)).toBe(1);
    expect((await scene.service.describe({ name: "web" })).events[0]?.detail).toBe(
      "the workload was replaced by another of the same name",
    );
    expect(await outcomes(scene)).toEqual([[1, 3, "applied"]]);
  });

  it("to a workload that was deleted counts as unknown, and the autoscaler then says that there is none", async () => {
    const { hook, scene, workload } = await threeWanted("hpa");
    hook.meanwhile = () => scene.admin("DELETE", objectPath(scene.namespace, workload));
    expect(await outcomes(scene)).toEqual([[2, 3, "unknown"]]);
    expect((await scene.service.describe({ name: "web" })).events[0]?.detail).toBe(
      "the workload is gone",
    );
    expect(await outcomes(scene)).toEqual([]);
    const { state, conditions } = await scene.service.get({ name: "web" });
    expect(state).toBe("failing");
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: "AbleToScale", status: "False", reason: "FailedGetScale" }),
    );
  });
});
