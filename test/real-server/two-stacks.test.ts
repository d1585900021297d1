import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { ClusterClient, Observed } from "../../lib/stack/cluster/cluster-client.ts";
import { clientFor } from "../../lib/stack/cluster/connect.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { deployment, WHOLE, watch } from "../cluster/stand-in/watched.ts";
import type { Workload } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { objectPath, type Scene, until } from "./scene.ts";

/**
 * Without the programs of Kubernetes there is no real API server; test/cluster/other-stacks.test.ts
 * then shows the same of answers as one gives them.
 */
onServer("two stacks that scale one workload of a real API server", (newScene) => {
  let scene: Scene;
  let workload: Workload;
  let one: ClusterClient;
  let other: ClusterClient;

  beforeAll(async () => {
    const shared = inject("cluster");
    if (shared.missing !== undefined) return;
    scene = await newScene("stacks");
    workload = await scene.make("Deployment", "web");
    const stack = (uid: string): ClusterClient => {
      const access = accessTo(shared, {
        credentials: async () => ({ headers: { authorization: `Bearer ${shared.tidemarkToken}` } }),
      });
      return clientFor({ name: clusterName("eu-1"), uid, kubeSystemUid: undefined }, access, {
        clock: Date.now,
      });
    };
    [one, other] = [stack("one"), stack("other")];
  });
  afterAll(() => {
    one?.close();
    other?.close();
  });

  const seenBy = async (client: ClusterClient): Promise<Observed | undefined> =>
    (await client.observe([watch(scene.namespace, "web")], WHOLE)).observations.values().next()
      .value;

  /** The deployment controller may write its status between the LIST and the PUT. */
  const scaleBy = (client: ClusterClient, replicas: number): Promise<void> =>
    until("the scale is applied", async () => {
      const scale = (await seenBy(client))?.observation.scale;
      if (scale?.kind !== "read") throw new Error("the scale was not read");
      const { namespace } = watch(scene.namespace, "web");
      const write = {
        namespace,
        target: deployment("web"),
        targetUid: scale.uid,
        resourceVersion: scale.resourceVersion,
        replicas,
      };
      return (await client.putScale(write, 5_000)).kind === "applied";
    });

  it("tell each other from the last write, over LIST and GET, until another writer changes the count", async () => {
    expect((await seenBy(one))?.otherStack).toBeUndefined();
    await scaleBy(one, 3);
    expect((await seenBy(one))?.otherStack).toBeUndefined();
    expect((await seenBy(other))?.otherStack).toEqual({
      manager: "tidemark-one",
      own: "tidemark-other",
    });
    expect(
      await other.readScale(watch(scene.namespace, "web").namespace, deployment("web"), 5_000),
    ).toMatchObject({ lastScaledBy: "tidemark-one" });
    await scaleBy(other, 5);
    expect((await seenBy(other))?.otherStack).toBeUndefined();
    expect((await seenBy(one))?.otherStack).toEqual({
      manager: "tidemark-other",
      own: "tidemark-one",
    });
    await scene.admin(
      "PATCH",
      objectPath(scene.namespace, workload),
      { spec: { replicas: 2 } },
      "application/merge-patch+json",
    );
    expect((await seenBy(one))?.otherStack).toBeUndefined();
  });
});
