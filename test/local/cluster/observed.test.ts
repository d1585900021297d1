import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ON_THIS_MACHINE } from "../../../lib/stack/cluster/access/kubeconfig-file.ts";
import type { ClusterClient, Watched } from "../../../lib/stack/cluster/cluster-client.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../../lib/rules/model/ids.ts";
import type { HpaMetric } from "../../../lib/rules/model/spec-hpa.ts";
import { asksOf } from "../../../lib/rules/policy/dialects.ts";
import { partsOf } from "../../answers.ts";
import { putHpa, type RunningCluster, runCluster, START_MS, workload } from "./running-cluster.ts";

const WEB = { apiVersion: "apps/v1", kind: "Deployment", name: "web" } as const;

let cluster: RunningCluster;
let client: ClusterClient;
beforeAll(async () => {
  cluster = await runCluster({ workloads: [workload(), workload({ name: "api" })] });
  putHpa(cluster, "shop", "old", "api");
  client = await connect(
    {
      name: clusterName("local"),
      kubeSystemUid: undefined,
      connection: { kind: "kubeconfig", path: cluster.kubeconfigPath },
    },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
});
afterAll(async () => {
  client.close();
  await cluster.remove();
});

const observe = async (metric: HpaMetric, name = "web") => {
  const uid = autoscalerUid("one");
  const spec = {
    dialect: "hpa",
    target: { ...WEB, name },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [metric],
  } as const;
  const watched: Watched = {
    uid,
    namespace: namespace("shop"),
    name: autoscalerName("one"),
    spec,
    ...asksOf(spec, "shop"),
  };
  const { observations } = await client.observe([watched], { budgetMs: 5000, namespaces: "all" });
  const observed = observations.get(uid);
  if (!observed) throw new RangeError("Nothing was observed");
  return observed;
};
const averageValue = { type: "AverageValue", averageValueMilli: 1000n };

describe("what the sync's own client sees of the simulated cluster", () => {
  it("is a scale, its pods and their usage", async () => {
    const { observation, rivals } = await observe({
      type: "Resource",
      name: "cpu",
      target: { type: "Utilization", averageUtilization: 60 },
    });
    expect(observation.scale).toMatchObject({
      kind: "read",
      specReplicas: 2,
      statusReplicas: 2,
      selector: "app=web",
      generation: 1,
    });
    const pods = observation.pods.all.filter(({ labels }) => labels["app"] === "web");
    expect(pods).toHaveLength(2);
    expect(pods[0]).toMatchObject({
      phase: "Running",
      deleting: false,
      ready: { status: "True" },
      containers: [{ name: "app", requests: { cpu: 500n } }],
    });
    const { resource } = partsOf(observation.answers);
    expect(
      resource?.kind === "answered" &&
        resource.items.all.find(({ labels }) => labels["app"] === "web"),
    ).toMatchObject({
      name: pods[0]?.name,
      timestampMs: START_MS,
      windowMs: 15_000,
      containers: [{ name: "app", usage: { cpu: 305n } }],
    });
    expect(rivals).toEqual([]);
  });

  it("is a rival where another autoscaler has the same target", async () => {
    const { rivals } = await observe(
      { type: "Resource", name: "cpu", target: averageValue },
      "api",
    );
    expect(rivals).toMatchObject([{ kind: "HorizontalPodAutoscaler", name: "old" }]);
  });

  it("is the demand on each pod", async () => {
    const { observation } = await observe({
      type: "Pods",
      metric: { name: "demand" },
      target: averageValue,
    });
    const value = {
      describes: expect.stringMatching(/^web-/),
      milli: 30_000n,
      timestampMs: START_MS,
      windowMs: 15_000,
    };
    expect([...partsOf(observation.answers).custom.values()]).toEqual([
      { kind: "answered", items: [value, value] },
    ]);
  });

  it("is the demand on the deployment", async () => {
    const { observation } = await observe({
      type: "Object",
      describedObject: WEB,
      metric: { name: "demand" },
      target: { type: "Value", valueMilli: 1n },
    });
    expect([...partsOf(observation.answers).custom.values()]).toMatchObject([
      { kind: "answered", items: [{ describes: "web", milli: 60_000n }] },
    ]);
  });

  it("is the demand from outside, selected by label", async () => {
    const metric = { name: "demand", selector: { matchLabels: { workload: "api" } } };
    const { observation } = await observe({ type: "External", metric, target: averageValue });
    expect([...partsOf(observation.answers).external.values()]).toEqual([
      { kind: "answered", items: [{ milli: 60_000n, timestampMs: START_MS }] },
    ]);
  });

  it("is a failure with the server's own words where there is no such metric", async () => {
    const { observation } = await observe({
      type: "External",
      metric: { name: "latency" },
      target: averageValue,
    });
    const failure = {
      code: 404,
      reason: "NotFound",
      message: "the server could not find the metric latency for external metrics",
    };
    expect([...partsOf(observation.answers).external.values()]).toEqual([
      { kind: "failed", failure },
    ]);
  });
});
