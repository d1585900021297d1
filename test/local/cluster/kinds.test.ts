import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WORKLOAD_KINDS } from "../../../lib/local/cluster/definition.ts";
import { constantTrace, type RunningCluster, runCluster, START_MS, workload } from "./running-cluster.ts";

const PATHS = {
  Deployment: "/apis/apps/v1/namespaces/shop/deployments",
  StatefulSet: "/apis/apps/v1/namespaces/shop/statefulsets",
  ReplicaSet: "/apis/apps/v1/namespaces/shop/replicasets",
  ReplicationController: "/api/v1/namespaces/shop/replicationcontrollers",
} as const;

let cluster: RunningCluster;
beforeAll(async () => {
  const workloads = WORKLOAD_KINDS.map((kind) => workload({ name: kind.toLowerCase(), kind, trace: constantTrace(8) }));
  cluster = await runCluster({ workloads });
  cluster.time.nowMs = START_MS + 60_000;
});
afterAll(() => cluster.remove());

describe("the simulated cluster", () => {
  it.each(WORKLOAD_KINDS)("lists, reads and scales a %s, whose pods belong to it", async (kind) => {
    const name = kind.toLowerCase();
    const listed = (await cluster.fetch(PATHS[kind])).json as { items: { metadata: { name: string } }[] };
    expect(listed.items.map(({ metadata }) => metadata.name)).toContain(name);
    const found = (await cluster.fetch(`${PATHS[kind]}/${name}/scale`)).json as { metadata: { resourceVersion: string }; spec: object };
    expect(found).toMatchObject({ kind: "Scale", status: { selector: `app=${name}` } });
    const answer = await cluster.fetch(`${PATHS[kind]}/${name}/scale`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: { ...found, spec: { replicas: 5 } },
    });
    expect(answer.json).toMatchObject({ spec: { replicas: 5 } });
    const pods = (await cluster.fetch(`/api/v1/namespaces/shop/pods?labelSelector=app%3D${name}`)).json as {
      items: { metadata: { ownerReferences: { kind: string }[] } }[];
    };
    expect(pods.items).toHaveLength(5);
    expect(pods.items[0]?.metadata.ownerReferences[0]?.kind).toBe(kind === "Deployment" ? "ReplicaSet" : kind);
    for (const other of WORKLOAD_KINDS.filter((one) => one !== kind)) expect((await cluster.fetch(`${PATHS[other]}/${name}/scale`)).code).toBe(404);
  });
});
