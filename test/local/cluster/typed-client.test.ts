import { ApiException, AppsV1Api, CoreV1Api, Metrics, VersionApi } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningCluster, runCluster, workload } from "./running-cluster.ts";

let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster({
    workloads: [
      workload(),
      workload({ name: "api", initialReplicas: 1 }),
      workload({ namespace: "bank" }),
    ],
  });
});
afterAll(() => cluster.remove());

const failure = async (call: Promise<unknown>): Promise<ApiException<string>> => {
  const error = await call.catch((cause: unknown) => cause);
  if (!(error instanceof ApiException))
    throw new TypeError(`Expected an ApiException, got ${String(error)}`);
  return error;
};

describe("the simulated cluster through the official client", () => {
  it("says its version", async () => {
    const { gitVersion } = await cluster.kubeConfig.makeApiClient(VersionApi).getCode();
    expect(gitVersion).toMatch(/^v1\.37\./);
  });

  it("lists deployments of one namespace and of all", async () => {
    const apps = cluster.kubeConfig.makeApiClient(AppsV1Api);
    const shop = await apps.listNamespacedDeployment({ namespace: "shop" });
    expect(shop.items.map(({ metadata }) => metadata?.name)).toEqual(["api", "web"]);
    const all = await apps.listDeploymentForAllNamespaces();
    expect(all.items.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)).toEqual([
      "bank/web",
      "shop/api",
      "shop/web",
    ]);
    expect(all.items[2]?.status).toMatchObject({
      replicas: 2,
      readyReplicas: 2,
      observedGeneration: 1,
    });
    expect(Number(all.metadata?.resourceVersion)).toBeGreaterThan(0);
  });

  it("lists pods with owner, labels, readiness and requests", async () => {
    const { items } = await cluster.kubeConfig
      .makeApiClient(CoreV1Api)
      .listNamespacedPod({ namespace: "shop", labelSelector: "app=web" });
    expect(items).toHaveLength(2);
    const [pod] = items;
    expect(pod?.metadata?.ownerReferences).toMatchObject([
      { kind: "ReplicaSet", name: pod?.metadata?.generateName?.slice(0, -1) },
    ]);
    expect(pod?.metadata?.labels).toMatchObject({ app: "web" });
    expect(pod?.status).toMatchObject({ phase: "Running" });
    expect(pod?.status?.startTime?.getTime()).toBeLessThan(cluster.time.nowMs);
    expect(pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    expect(pod?.spec?.containers[0]?.resources).toEqual({
      requests: { cpu: "500m", memory: "134217728" },
      limits: { cpu: "600m", memory: "536870912" },
    });
  });

  it("reads and replaces a scale, and refuses the version that it replaced", async () => {
    const apps = cluster.kubeConfig.makeApiClient(AppsV1Api);
    const read = await apps.readNamespacedDeploymentScale({ namespace: "shop", name: "api" });
    expect(read).toMatchObject({
      spec: { replicas: 1 },
      status: { replicas: 1, selector: "app=api" },
    });
    const body = { ...read, spec: { replicas: 3 } };
    const written = await apps.replaceNamespacedDeploymentScale({
      namespace: "shop",
      name: "api",
      body,
    });
    expect(written.spec).toEqual({ replicas: 3 });
    expect(written.metadata?.resourceVersion).not.toBe(read.metadata?.resourceVersion);
    const after = await apps.readNamespacedDeployment({ namespace: "shop", name: "api" });
    expect(after.metadata?.generation).toBe(2);
    const refused = await failure(
      apps.replaceNamespacedDeploymentScale({ namespace: "shop", name: "api", body }),
    );
    expect(refused.code).toBe(409);
    expect(JSON.parse(refused.body)).toMatchObject({
      kind: "Status",
      reason: "Conflict",
      details: { name: "api", group: "apps", kind: "deployments" },
      message:
        'Operation cannot be fulfilled on deployments.apps "api": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  it("answers metrics.k8s.io", async () => {
    const { items } = await new Metrics(cluster.kubeConfig).getPodMetrics("bank");
    expect(items).toHaveLength(2);
    // 60 calls on 2 pods at 10m each, on top of the 5m without load.
    expect(items[0]).toMatchObject({
      window: "15s",
      containers: [{ name: "app", usage: { cpu: "305000000n" } }],
    });
  });
});
