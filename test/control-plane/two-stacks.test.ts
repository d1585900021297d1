import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientFor } from "../../lib/cluster/connect.ts";
import type { ClusterClient, Observed } from "../../lib/cluster/port.ts";
import { clusterName } from "../../lib/model/ids.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { deployment, WHOLE, watch } from "../cluster/stand-in/watched.ts";
import { controlPlaneBinaries } from "./binaries.ts";
import { fillCluster } from "./fill.ts";
import { type ControlPlane, startControlPlane } from "./start.ts";

const binaries = controlPlaneBinaries();

/** Without the programs of Kubernetes there is no real API server; test/cluster/other-stacks.test.ts then shows the same of answers as one gives them. */
describe.skipIf(binaries.kind === "missing")("two stacks that scale one workload of a real API server", () => {
  let plane: ControlPlane;
  let one: ClusterClient;
  let other: ClusterClient;

  beforeAll(async () => {
    plane = await startControlPlane(binaries.kind === "found" ? binaries.folder : "");
    await fillCluster(plane, [{ namespace: "shop", name: "web" }]);
    const stack = (uid: string): ClusterClient => {
      const access = accessTo(plane, { credentials: async () => ({ headers: { authorization: `Bearer ${plane.token}` } }) });
      return clientFor({ name: clusterName("eu-1"), uid }, access, { clock: Date.now });
    };
    [one, other] = [stack("one"), stack("other")];
  });
  afterAll(async () => {
    one?.close();
    other?.close();
    await plane?.close();
  });

  const seenBy = async (client: ClusterClient): Promise<Observed | undefined> =>
    (await client.observe([watch("shop", "web")], WHOLE)).observations.values().next().value;

  const scaleBy = async (client: ClusterClient, replicas: number): Promise<void> => {
    const scale = (await seenBy(client))?.observation.scale;
    if (scale?.kind !== "read") throw new Error("the scale was not read");
    const write = {
      namespace: watch("shop", "web").namespace,
      target: deployment("web"),
      targetUid: scale.uid,
      resourceVersion: scale.resourceVersion,
    };
    expect(await client.putScale({ ...write, replicas }, 5_000)).toMatchObject({ kind: "applied" });
  };

  it("tell each other from the last write, over LIST and GET, until another writer changes the count", async () => {
    expect((await seenBy(one))?.otherStack).toBeUndefined();
    await scaleBy(one, 3);
    expect((await seenBy(one))?.otherStack).toBeUndefined();
    expect((await seenBy(other))?.otherStack).toEqual({ manager: "tidemark-one", own: "tidemark-other" });
    expect(await other.readScale(watch("shop", "web").namespace, deployment("web"), 5_000)).toMatchObject({ lastScaledBy: "tidemark-one" });
    await scaleBy(other, 5);
    expect((await seenBy(other))?.otherStack).toBeUndefined();
    expect((await seenBy(one))?.otherStack).toEqual({ manager: "tidemark-other", own: "tidemark-one" });
    const path = "/apis/apps/v1/namespaces/shop/deployments/web";
    await plane.call("PATCH", path, { spec: { replicas: 2 } }, "application/merge-patch+json");
    expect((await seenBy(one))?.otherStack).toBeUndefined();
  });
});
