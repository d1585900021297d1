import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reading } from "./readings.ts";
import {
  constantTrace,
  type RunningCluster,
  runCluster,
  START_MS,
  workload,
} from "./running-cluster.ts";

const MINUTE_MS = 60_000;
const CUSTOM = "/apis/custom.metrics.k8s.io";
const EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop";

let cluster: RunningCluster;
beforeAll(async () => {
  const outages = [{ fromMs: 10 * MINUTE_MS, toMs: 15 * MINUTE_MS }];
  cluster = await runCluster({
    workloads: [
      workload({ trace: constantTrace(61), outages }),
      workload({ name: "api", trace: constantTrace(8) }),
    ],
  });
});
afterAll(() => cluster.remove());

const items = async (path: string) =>
  ((await cluster.fetch(path)).json as { items: unknown[] }).items;

describe("metrics.k8s.io", () => {
  it("gives container usage at whole scrapes, selected by label", async () => {
    cluster.time.nowMs = START_MS + 40_000;
    expect(await items("/apis/metrics.k8s.io/v1beta1/pods")).toHaveLength(4);
    const [first] = await items(
      "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dapi",
    );
    expect(first).toMatchObject({
      metadata: { namespace: "shop", labels: { app: "api" } },
      timestamp: "2026-01-05T08:00:30Z",
      window: "15s",
      containers: [{ name: "app", usage: { cpu: "45000000n", memory: `${(64 + 4) * 1024}Ki` } }],
    });
  });

  it("gives one pod by name", async () => {
    const [first] = (await items("/apis/metrics.k8s.io/v1beta1/pods")) as {
      metadata: { name: string };
    }[];
    const answer = await cluster.fetch(
      `/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods/${first?.metadata.name}`,
    );
    expect(answer.json).toMatchObject({
      kind: "PodMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      metadata: first?.metadata,
    });
  });
});

describe("custom.metrics.k8s.io", () => {
  const pods = "namespaces/shop/pods/*/demand?labelSelector=app%3Dweb";

  it("gives the demand on each pod in both versions", async () => {
    cluster.time.nowMs = START_MS + MINUTE_MS;
    const beta2 = await cluster.fetch(`${CUSTOM}/v1beta2/${pods}`);
    const described = {
      kind: "Pod",
      namespace: "shop",
      name: expect.stringMatching(/^web-/),
      apiVersion: "/v1",
    };
    const value = {
      describedObject: described,
      timestamp: "2026-01-05T08:01:00Z",
      windowSeconds: 15,
      metric: { name: "demand", selector: null },
      value: "30500m",
    };
    expect(beta2.json).toEqual({
      kind: "MetricValueList",
      apiVersion: "custom.metrics.k8s.io/v1beta2",
      metadata: {},
      items: [value, value],
    });
    const { metric: _, windowSeconds: window, ...rest } = value;
    expect(await items(`${CUSTOM}/v1beta1/${pods}`)).toEqual([
      { ...rest, window, metricName: "demand" },
      { ...rest, window, metricName: "demand" },
    ]);
  });

  it("gives the demand on a deployment", async () => {
    expect(
      await items(`${CUSTOM}/v1beta2/namespaces/shop/deployments.apps/web/demand`),
    ).toMatchObject([
      {
        describedObject: { kind: "Deployment", name: "web", apiVersion: "apps/v1" },
        value: "61000m",
      },
    ]);
  });

  it.each([
    ["namespaces/shop/pods/*/latency", "the server could not find the metric latency for pods"],
    [
      "namespaces/shop/services/web/demand",
      "the server could not find the metric demand for services",
    ],
    [
      "namespaces/shop/deployments.apps/none/demand",
      "the server could not find the metric demand for deployments.apps none",
    ],
  ])("does not find %s", async (path, message) => {
    expect((await cluster.fetch(`${CUSTOM}/v1beta2/${path}`)).json).toMatchObject({
      kind: "Status",
      code: 404,
      reason: "NotFound",
      message,
    });
  });
});

describe("external.metrics.k8s.io", () => {
  it("gives the demand on each workload that the selector selects", async () => {
    expect(await items(`${EXTERNAL}/demand`)).toHaveLength(2);
    expect(await items(`${EXTERNAL}/demand?labelSelector=workload%3Dweb`)).toEqual([
      {
        metricName: "demand",
        metricLabels: { workload: "web", unit: "calls per minute" },
        timestamp: "2026-01-05T08:01:00Z",
        window: 15,
        value: "61000m",
      },
    ]);
    expect((await cluster.fetch(`${EXTERNAL}/latency`)).code).toBe(404);
  });
});

describe("during an outage", () => {
  it("the workload's pods have no metrics, the others have", async () => {
    cluster.time.nowMs = START_MS + 12 * MINUTE_MS;
    expect(
      await items("/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dweb"),
    ).toEqual([]);
    expect(
      await items("/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods?labelSelector=app%3Dapi"),
    ).toHaveLength(2);
    expect(await items(`${CUSTOM}/v1beta2/namespaces/shop/pods/*/demand`)).toHaveLength(2);
    expect(await items(`${EXTERNAL}/demand`)).toHaveLength(1);
    expect(cluster.each(reading)).toMatchObject([
      { name: "api", scraped: true },
      {
        name: "web",
        scraped: false,
        demand: 61,
        replicas: 2,
        ready: 2,
        cpuPercent: 62,
        targetCpuPercent: 60,
        unservedShare: 0,
      },
    ]);
  });
});

describe("metrics that manifests name", () => {
  let named: RunningCluster;
  beforeAll(async () => {
    const rps = { name: "requests", selector: "" };
    const queue = { name: "messages", selector: "queue=orders", trace: constantTrace(7) };
    named = await runCluster({
      workloads: [
        workload({ trace: constantTrace(61), metrics: [rps, queue] }),
        workload({ name: "api", trace: constantTrace(8) }),
      ],
    });
    named.time.nowMs = START_MS + MINUTE_MS;
  });
  afterAll(() => named.remove());
  const valuesOf = async (path: string): Promise<readonly unknown[]> =>
    ((await named.fetch(path)).json as { items?: { value: string }[] }).items?.map(
      ({ value }) => value,
    ) ?? [];

  it("count the load of the workload on its pods and on the object that they describe", async () => {
    expect(
      await valuesOf(`${CUSTOM}/v1beta2/namespaces/shop/pods/*/requests?labelSelector=app%3Dweb`),
    ).toEqual(["30500m", "30500m"]);
    expect(await valuesOf(`${CUSTOM}/v1beta2/namespaces/shop/services/web/requests`)).toEqual([
      "61000m",
    ]);
    expect(await valuesOf(`${CUSTOM}/v1beta2/namespaces/shop/metrics/requests`)).toEqual([
      "61000m",
    ]);
    expect(
      (await named.fetch(`${CUSTOM}/v1beta2/namespaces/shop/pods/*/other?labelSelector=app%3Dweb`))
        .code,
    ).toBe(404);
  });

  it("have a recorded load of their own, and are asked by their selector", async () => {
    expect(await valuesOf(`${EXTERNAL}/messages?labelSelector=queue%3Dorders`)).toEqual(["7000m"]);
    expect(await valuesOf(`${EXTERNAL}/messages?labelSelector=queue%3Dreturns`)).toEqual([]);
    expect((await named.fetch(`${EXTERNAL}/other`)).code).toBe(404);
  });
});
