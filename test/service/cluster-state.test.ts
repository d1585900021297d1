import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import { openQueries, openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import {
  type Kubernetes,
  kubernetes,
  pod,
  podMetrics,
  workload,
} from "../cluster/stand-in/kubernetes.ts";
import { status } from "../cluster/stand-in/server.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";

/**
 * A real HTTPS cluster that real syncs read, the tables of the embedded engine, and what people are
 * shown of it.
 */
let world: ServiceWorld;
let service: Service;
let server: Kubernetes;
let client: ClusterClient;
let nowMs: number;

const PERIOD_MS = 15_000;
const TIMING = { ...DEFAULT_TIMING, softDeadlineMs: 3_000 };
const WORKLOADS = [
  ["shop", "web"],
  ["shop", "api"],
  ["cart", "jobs"],
] as const;

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
});
afterAll(() => world.close());

const fill = (): void => {
  server.collections.set(
    "/apis/apps/v1/deployments",
    WORKLOADS.map(([ns, app]) => workload(ns, app)),
  );
  server.collections.set(
    "/api/v1/pods",
    WORKLOADS.map(([ns, app]) => pod(ns, app)),
  );
  server.collections.set(
    "/apis/metrics.k8s.io/v1beta1/pods",
    WORKLOADS.map(([ns, app]) => podMetrics(ns, app, 0, "60m")),
  );
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
};

let clusters = 0;
let name = clusterName("eu-0");
beforeEach(async () => {
  nowMs = NOON;
  world.set(nowMs);
  server = await kubernetes();
  fill();
  client = clientTo(server);
  name = clusterName(`eu-${++clusters}`);
  await service.addCluster({ name, connection: { kind: "kubeconfig", path: "/kube/config" } });
  return async () => {
    client.close();
    await server.close().catch(() => undefined);
  };
});

const applyAll = (): Promise<unknown> =>
  service.apply(
    [
      {
        file: "a.yaml",
        text: documents(...WORKLOADS.map(([namespace, app]) => hpa(app, { namespace }))),
      },
    ],
    {
      cluster: name,
      dryRun: false,
    },
  );

/** A sync of each partition, one period later. */
const syncAll = async (partitions: readonly string[] = ["default"]): Promise<void> => {
  nowMs += PERIOD_MS;
  world.set(nowMs);
  const tables = { ...world.tables, clock: () => nowMs };
  const ports = {
    tables,
    insert: world.context.insert,
    connect: async () => client,
    rules: PURE_PART,
    timing: TIMING,
    cache: warmCache(),
  };
  for (const partition of partitions) {
    const report = await sync(ports, {
      cluster: name,
      partition: partitionName(partition),
      dueMs: nowMs,
      periodMs: PERIOD_MS,
    });
    expect(report.kind).toBe("completed");
  }
};

const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();
const shown = () => service.cluster(name);
const divide = (): Promise<unknown> =>
  service.replaceCluster({
    name,
    partitions: [
      { name: "shop", namespaces: ["shop"] },
      { name: "cart", namespaces: ["cart"] },
    ],
  });
const refuseIn = (path: string): void => {
  server.overrides.push({
    match: ({ url }) => url.pathname.includes(path),
    answer: status(
      403,
      "Forbidden",
      'deployments.apps is forbidden: User "tidemark" cannot list resource',
    ),
  });
};

describe("the state of a cluster", () => {
  it("is ok where every workload is read, and where there is none to read", async () => {
    await syncAll();
    expect((await shown()).state).toBe("ok");
    await applyAll();
    await syncAll();
    const view = await shown();
    expect(view.state).toBe("ok");
    expect(view).not.toHaveProperty("error");
    expect(view.partitions).toMatchObject([{ name: "default", state: "ok" }]);
  });

  it("is never synced before the first sync has ended", async () => {
    expect(await shown()).toMatchObject({
      state: "never synced",
      partitions: [{ state: "never synced" }],
    });
  });

  it("is unreachable from the sync on that found nothing listening, with the words of the connection", async () => {
    await applyAll();
    await syncAll();
    await server.close();
    await syncAll();
    await syncAll();
    const view = await shown();
    expect(view).toMatchObject({
      state: "unreachable",
      since: at(30),
      partitions: [{ state: "unreachable", since: at(30) }],
    });
    expect(view.error).toContain("nothing listens at the server's address (ECONNREFUSED)");
    expect((await Array.fromAsync(service.clusters())).find((one) => one.name === name)).toEqual(
      view,
    );
  });

  it("stays unreachable while the cluster is paused or the fleet is frozen, and else tells of those", async () => {
    await applyAll();
    await syncAll();
    expect(await service.pauseCluster(name)).toMatchObject({ state: "paused", since: at(15) });
    await service.freeze("drill");
    expect(await shown()).toMatchObject({ state: "frozen", since: at(15) });
    await server.close();
    await syncAll();
    expect(await shown()).toMatchObject({ state: "unreachable", since: at(30) });
    await service.thaw();
  });

  it("is forbidden where the cluster refuses our rights or credentials", async () => {
    await applyAll();
    refuseIn("/apis/apps/v1");
    await syncAll();
    expect(await shown()).toMatchObject({
      state: "forbidden",
      since: at(15),
      error: expect.stringContaining('is forbidden: User "tidemark"'),
    });
    server.overrides.length = 0;
    server.overrides.push({
      match: () => true,
      answer: status(401, "Unauthorized", "Unauthorized"),
    });
    await syncAll();
    expect(await shown()).toMatchObject({
      state: "forbidden",
      since: at(15),
      error: expect.stringContaining("Unauthorized"),
    });
  });

  it("is partly failing where the cluster answers and a workload is not there, and names the autoscaler", async () => {
    await service.apply([{ file: "a.yaml", text: hpa("gone", { namespace: "shop" }) }], {
      cluster: name,
      dryRun: false,
    });
    await syncAll();
    const view = await shown();
    expect(view).toMatchObject({ state: "partly failing", since: at(15) });
    expect(view.error).toMatch(/^autoscaler "shop\/gone": .*"gone" not found$/);
  });

  it("is partly failing where one of two partitions fails, and tells which, since when and why", async () => {
    await divide();
    await applyAll();
    refuseIn("/namespaces/cart/");
    await syncAll(["shop", "cart"]);
    const view = await shown();
    expect(view.partitions.map(({ name: partition, state }) => [partition, state])).toEqual([
      ["shop", "ok"],
      ["cart", "forbidden"],
    ]);
    expect(view).toMatchObject({
      state: "partly failing",
      since: at(15),
      error: expect.stringMatching(/^partition "cart": /),
    });
  });

  it("is unreachable though one of its partitions has no autoscaler that could tell", async () => {
    await divide();
    await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
      cluster: name,
      dryRun: false,
    });
    await server.close();
    await syncAll(["shop", "cart"]);
    expect((await shown()).state).toBe("unreachable");
  });

  it("is told apart in the words of the watermark rules, too", async () => {
    const text = readFileSync(join(import.meta.dirname, "../../examples/watermark.yaml"), "utf8");
    await service.apply([{ file: "watermark.yaml", text }], { cluster: name, dryRun: false });
    await syncAll();
    expect(await shown()).toMatchObject({
      state: "partly failing",
      since: at(15),
      error: expect.stringContaining('"watermark" not found'),
    });
    await server.close();
    // Its conditions say the same of both failures: the next sync that tells its page whole has the
    // new words.
    for (let syncs = 0; syncs < 4; syncs++) await syncAll();
    expect(await shown()).toMatchObject({
      state: "unreachable",
      error: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("is late once more than three periods have passed without a sync, since the last one", async () => {
    await applyAll();
    await syncAll();
    world.set(nowMs + 3 * PERIOD_MS);
    expect((await shown()).state).toBe("ok");
    world.set(nowMs + 3 * PERIOD_MS + 1);
    expect(await shown()).toMatchObject({ state: "late", since: at(15) });
    await syncAll();
    expect((await shown()).state).toBe("ok");
  });

  const busy = (): void => {
    server.collections.set(
      "/apis/metrics.k8s.io/v1beta1/pods",
      WORKLOADS.map(([ns, app]) => podMetrics(ns, app, 0, "700m")),
    );
  };
  /** The binding of our role is gone: every LIST is answered, and no scale may be written. */
  const refuseScales = (): void => {
    server.overrides.push({
      match: ({ method, url }) => method === "PUT" && url.pathname.endsWith("/scale"),
      answer: status(
        403,
        "Forbidden",
        'deployments.apps "web" is forbidden: User "tidemark" cannot update resource "deployments/scale"',
      ),
    });
  };

  it("is forbidden where every scale is refused: the autoscalers, what they want, and the status say so, until one is made again", async () => {
    await applyAll();
    await syncAll();
    busy();
    refuseScales();
    await syncAll();
    expect(await shown()).toMatchObject({
      state: "forbidden",
      error: expect.stringContaining('cannot update resource "deployments/scale"'),
    });
    const [view] = await Array.fromAsync(service.autoscalers({ cluster: name }));
    expect(view).toMatchObject({
      state: "forbidden",
      currentReplicas: 2,
      decision: { kind: "scale", refused: expect.stringContaining("forbidden") },
    });
    expect(view?.desiredReplicas).toBeGreaterThan(2);
    const health = await service.status();
    const problems = health.problems.filter(({ message }) => message.includes(`"${name}`));
    expect(health.healthy).toBe(false);
    expect(problems.map(({ kind }) => kind)).toEqual(["forbidden", "refused"]);
    expect(problems[1]?.message).toContain("3 autoscalers");
    server.overrides.pop();
    await syncAll();
    expect((await shown()).state).toBe("ok");
    expect(
      (await service.status()).problems.filter(({ message }) => message.includes(`"${name}`)),
    ).toEqual([]);
  });

  it("is failing where the metrics API is gone, and the status is unhealthy", async () => {
    await applyAll();
    await syncAll();
    server.collections.delete("/apis/metrics.k8s.io/v1beta1/pods");
    await syncAll();
    expect(await shown()).toMatchObject({ state: "failing" });
    const [view] = await Array.fromAsync(service.autoscalers({ cluster: name }));
    expect(view).toMatchObject({ state: "failing" });
    expect(
      (await service.status()).problems.filter(({ message }) => message.includes(`"${name}`)),
    ).toMatchObject([{ kind: "failing", next: `tidemark cluster check ${name}` }]);
  });

  it("is ok where autoscalers are at their maximum or count pods of others, and after 15 minutes the status says which", async () => {
    await applyAll();
    busy();
    for (let syncs = 0; syncs < 70; syncs++) await syncAll();
    const { problems, notices } = await service.status();
    expect(problems.filter(({ message }) => message.includes(`"${name}`))).toMatchObject([
      {
        kind: "at max",
        message: expect.stringMatching(
          /^3 autoscalers of ".*", first "\w+\/\w+", have wanted more than maxReplicas for 15 minutes$/,
        ),
      },
    ]);
    expect(notices?.filter(({ message }) => message.includes(`"${name}`))).toMatchObject([
      {
        // The pods of this world have no owners that the rules could tell apart.
        kind: "pods",
        message: expect.stringMatching(
          /^3 autoscalers of ".*", first "\w+\/\w+", have had other pods than wanted for 15 minutes: pods of something else count$/,
        ),
        next: expect.stringMatching(/^tidemark doctor \w+ -n \w+ --cluster eu-/),
      },
    ]);
  });

  it("costs one request for the heads of all partitions, and none for their journals", async () => {
    await divide();
    await applyAll();
    for (let syncs = 0; syncs < 4; syncs++) await syncAll(["shop", "cart"]);
    const asked: string[] = [];
    const counting = around(world.tables.client, (command, send) => {
      asked.push(command);
      return send();
    });
    await openQueries({
      tables: { ...world.tables, client: counting },
      clock: () => nowMs,
    }).cluster(name);
    // The cluster, its connection and the fleet; both heads.
    const counts = Object.fromEntries(
      [...Map.groupBy(asked, (one) => one)].map(([one, all]) => [one, all.length]),
    );
    expect(counts).toEqual({ GetItemCommand: 3, BatchGetItemCommand: 1 });
  });
});
