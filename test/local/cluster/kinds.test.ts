import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WORKLOAD_KINDS } from "../../../lib/embedded/cluster/definition.ts";
import { guessedPlural } from "../../../lib/embedded/cluster/served-resources.ts";
import {
  constantTrace,
  type RunningCluster,
  runCluster,
  START_MS,
  workload,
} from "./running-cluster.ts";

const PATHS = {
  Deployment: "/apis/apps/v1/namespaces/shop/deployments",
  StatefulSet: "/apis/apps/v1/namespaces/shop/statefulsets",
  ReplicaSet: "/apis/apps/v1/namespaces/shop/replicasets",
  ReplicationController: "/api/v1/namespaces/shop/replicationcontrollers",
} as const;

let cluster: RunningCluster;
beforeAll(async () => {
  const workloads = WORKLOAD_KINDS.map((kind) =>
    workload({ name: kind.toLowerCase(), kind, trace: constantTrace(8) }),
  );
  const rollout = workload({
    name: "rollout",
    kind: "Rollout",
    apiVersion: "argoproj.io/v1alpha1",
    trace: constantTrace(8),
  });
  const clone = workload({
    name: "clone",
    kind: "StatefulSet",
    apiVersion: "apps.kruise.io/v1beta1",
    trace: constantTrace(8),
  });
  cluster = await runCluster({ workloads: [...workloads, rollout, clone] });
  cluster.time.nowMs = START_MS + 60_000;
});
afterAll(() => cluster.remove());

describe("the simulated cluster", () => {
  it.each(WORKLOAD_KINDS)("lists, reads and scales a %s, whose pods belong to it", async (kind) => {
    const name = kind.toLowerCase();
    const listed = (await cluster.fetch(PATHS[kind])).json as {
      items: { metadata: { name: string } }[];
    };
    expect(listed.items.map(({ metadata }) => metadata.name)).toContain(name);
    const found = (await cluster.fetch(`${PATHS[kind]}/${name}/scale`)).json as {
      metadata: { resourceVersion: string };
      spec: object;
    };
    expect(found).toMatchObject({ kind: "Scale", status: { selector: `app=${name}` } });
    const answer = await cluster.fetch(`${PATHS[kind]}/${name}/scale`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: { ...found, spec: { replicas: 5 } },
    });
    expect(answer.json).toMatchObject({ spec: { replicas: 5 } });
    const pods = (await cluster.fetch(`/api/v1/namespaces/shop/pods?labelSelector=app%3D${name}`))
      .json as {
      items: { metadata: { ownerReferences: { kind: string }[] } }[];
    };
    expect(pods.items).toHaveLength(5);
    expect(pods.items[0]?.metadata.ownerReferences[0]?.kind).toBe(
      kind === "Deployment" ? "ReplicaSet" : kind,
    );
    for (const other of WORKLOAD_KINDS.filter((one) => one !== kind))
      expect((await cluster.fetch(`${PATHS[other]}/${name}/scale`)).code).toBe(404);
  });

  it("has the group, the plural and the scale of a kind that only its workloads have", async () => {
    const path = "/apis/argoproj.io/v1alpha1";
    expect((await cluster.fetch("/apis/argoproj.io")).json).toMatchObject({
      preferredVersion: { groupVersion: "argoproj.io/v1alpha1" },
    });
    const { resources } = (await cluster.fetch(path)).json as {
      resources: { name: string; kind: string }[];
    };
    expect(resources.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "rollouts Rollout",
      "rollouts/scale Scale",
    ]);
    expect((await cluster.fetch(`${path}/rollouts`)).json).toMatchObject({
      kind: "RolloutList",
      items: [{ metadata: { name: "rollout" } }],
    });
    const scale = `${path}/namespaces/shop/rollouts/rollout/scale`;
    expect((await cluster.fetch(scale)).json).toMatchObject({
      kind: "Scale",
      status: { selector: "app=rollout" },
    });
    const headers = { "content-type": "application/merge-patch+json" };
    expect(
      (await cluster.fetch(scale, { method: "PATCH", headers, body: { spec: { replicas: 4 } } }))
        .json,
    ).toMatchObject({ spec: { replicas: 4 } });
    const { items } = (
      await cluster.fetch("/api/v1/namespaces/shop/pods?labelSelector=app%3Drollout")
    ).json as { items: object[] };
    expect(items).toHaveLength(4);
    expect(items[0]).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" }] },
    });
  });

  it("tells a kind from the kind of this name of Kubernetes itself", async () => {
    const namesAt = async (path: string): Promise<string[]> =>
      ((await cluster.fetch(path)).json as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      );
    expect(await namesAt("/apis/apps.kruise.io/v1beta1/statefulsets")).toEqual(["clone"]);
    expect(await namesAt("/apis/apps/v1/statefulsets")).toEqual(["statefulset"]);
    expect(
      (await cluster.fetch("/apis/apps/v1/namespaces/shop/statefulsets/clone/scale")).code,
    ).toBe(404);
  });

  it("makes plurals as Kubernetes guesses them", () =>
    expect(["Rollout", "Policy", "Class"].map(guessedPlural)).toEqual([
      "rollouts",
      "policies",
      "classes",
    ]));
});
