import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { partsOf } from "../answers.ts";
import {
  putHpa,
  type RunningCluster,
  runCluster,
  workload,
} from "../local/cluster/running-cluster.ts";
import { CPU, deployment, WHOLE, watch } from "./stand-in/watched.ts";

let cluster: RunningCluster;
let client: ClusterClient;
beforeEach(async () => {
  cluster = await runCluster({ workloads: [workload(), workload({ name: "api" })] });
  putHpa(cluster, "shop", "left-over");
  cluster.time.nowMs += 120_000;
  const connection = { kind: "kubeconfig", path: cluster.kubeconfigPath } as const;
  client = await connect(
    { name: clusterName("local"), kubeSystemUid: undefined, connection },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
});
afterEach(async () => {
  client.close();
  await cluster.remove();
});

const web = watch("shop", "web", {
  metrics: [
    CPU,
    { type: "Resource", name: "memory", target: { type: "AverageValue", averageValueMilli: 1n } },
  ],
});
const api = watch("shop", "api");

const readScale = async () => {
  const reading = await client.readScale(namespace("shop"), deployment("web"), 3_000);
  if (reading.kind === "failed") throw new Error(reading.failure.message);
  return reading;
};
const write = async (replicas: number) => {
  const { uid, resourceVersion } = await readScale();
  return client.putScale(
    {
      namespace: namespace("shop"),
      target: deployment("web"),
      targetUid: uid,
      resourceVersion,
      replicas,
    },
    500,
  );
};

describe("a cluster that speaks the Kubernetes API", () => {
  it("is observed: scales, pods with their metrics, and the rivals of the target", async () => {
    const { observations } = await client.observe([web, api], WHOLE);
    const seen = observations.get(web.uid);
    expect(seen?.observation.scale).toMatchObject({
      kind: "read",
      specReplicas: 2,
      statusReplicas: 2,
      selector: "app=web",
      generation: 1,
    });
    expect(
      seen?.observation.pods.select([{ key: "app", operator: "=", values: ["web"] }]),
    ).toMatchObject([{ phase: "Running" }, { phase: "Running" }]);
    const resource = partsOf(seen?.observation.answers).resource;
    expect(
      resource?.kind === "answered" &&
        resource.items.select([{ key: "app", operator: "=", values: ["web"] }]),
    ).toHaveLength(2);
    expect(seen?.rivals).toMatchObject([{ kind: "HorizontalPodAutoscaler", name: "left-over" }]);
    expect(observations.get(api.uid)?.rivals).toEqual([]);
  });

  it("is scaled, once per resourceVersion", async () => {
    const { uid, resourceVersion } = await readScale();
    const to = (replicas: number) =>
      client.putScale(
        {
          namespace: namespace("shop"),
          target: deployment("web"),
          targetUid: uid,
          resourceVersion,
          replicas,
        },
        500,
      );
    expect(await to(5)).toMatchObject({ kind: "applied" });
    expect(await to(6)).toMatchObject({ kind: "conflict", failure: { code: 409 } });
    expect(await readScale()).toMatchObject({ specReplicas: 5, generation: 2 });
  });

  it("that loses the answer leaves the write unclear; the generation then tells that it took effect", async () => {
    cluster.faults.add({
      kind: "reset",
      when: "after",
      path: "/apis/apps/v1/namespaces/shop/deployments/web/scale",
      method: "PUT",
      times: 1,
    });
    const before = await readScale();
    expect(await write(7)).toMatchObject({
      kind: "unclear",
      failure: { code: 0, reason: "ConnectionReset" },
    });
    expect(await readScale()).toMatchObject({
      specReplicas: 7,
      uid: before.uid,
      generation: (before.generation ?? 0) + 1,
    });
  });

  it("that hangs before the write leaves it unclear too; the generation then tells that it did not", async () => {
    cluster.faults.add({
      kind: "hang",
      path: "/apis/apps/v1/namespaces/shop/deployments/web/scale",
      method: "PUT",
      times: 1,
    });
    const before = await readScale();
    expect(await write(7)).toMatchObject({ kind: "unclear", failure: { reason: "Timeout" } });
    expect(await readScale()).toEqual(before);
  });

  it("that is busy is asked again after the time that it names", async () => {
    const busy = {
      kind: "status",
      code: 429,
      reason: "TooManyRequests",
      message: "busy",
      retryAfterSeconds: 1,
    } as const;
    cluster.faults.add({ ...busy, path: "/apis/apps/v1/namespaces/shop/deployments", times: 1 });
    const { observations, calls } = await client.observe([web], WHOLE);
    expect(observations.get(web.uid)?.observation.scale.kind).toBe("read");
    const again = await client.observe([web], WHOLE);
    expect(calls).toBeGreaterThan(again.calls);
  });

  it("without metrics gives scales and a failure with its words", async () => {
    const down = {
      kind: "status",
      code: 503,
      reason: "ServiceUnavailable",
      message: "the metrics adapter is down",
    } as const;
    cluster.faults.add({ ...down, path: "/apis/metrics.k8s.io" });
    const { observations } = await client.observe([web], WHOLE);
    const observation = observations.get(web.uid)?.observation;
    expect(observation?.scale.kind).toBe("read");
    expect(partsOf(observation?.answers).resource).toEqual({
      kind: "failed",
      failure: { code: 503, reason: "ServiceUnavailable", message: "the metrics adapter is down" },
    });
  });
});
