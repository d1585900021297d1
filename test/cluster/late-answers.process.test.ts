import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { partsOf } from "../answers.ts";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import { json } from "./stand-in/server.ts";
import { clientTo, QUEUE, seen, WHOLE, watch } from "./stand-in/watched.ts";

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
});
afterEach(async () => {
  client.close();
  await server.close();
});
const fill = (apps: readonly (readonly [string, string])[], podsEach?: number): void =>
  fillWith(server, apps, podsEach);

describe("observe() with answers that come too late", () => {
  it("keeps the metrics that need no pods when the pods of their namespace come too late", async () => {
    fill([
      ["shop", "web"],
      ["shop", "worker"],
    ]);
    server.documents.set("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth", {
      items: [{ metricName: "queue_depth", value: "7" }],
    });
    server.overrides.push({
      match: ({ url }) => url.pathname === "/api/v1/namespaces/shop/pods",
      answer: () => undefined,
    });
    const [web, worker] = [
      watch("shop", "web", { selector: "app=web" }),
      watch("shop", "worker", { metrics: [QUEUE], selector: "app=worker" }),
    ];
    const observed = await client.observe([web, worker], { ...WHOLE, budgetMs: 1_500 });
    expect(partsOf(seen(observed, web).observation.answers).resource).toMatchObject({
      kind: "failed",
      failure: { code: 0 },
    });
    expect([
      ...partsOf(seen(observed, worker).observation.answers).external.values(),
    ]).toMatchObject([{ kind: "answered", items: [{ milli: 7_000n }] }]);
    expect(seen(observed, worker).observation.scale.kind).toBe("read");
  });

  it("measures while another list is late: only the rivals are unknown", async () => {
    fill([["shop", "web"]]);
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("/horizontalpodautoscalers"),
      answer: () => undefined,
    });
    const web = watch("shop", "web");
    const { observation, rivalsUnknown } = seen(
      await client.observe([web], { ...WHOLE, budgetMs: 1_500 }),
      web,
    );
    expect(rivalsUnknown).toContain("no HorizontalPodAutoscaler could be looked for");
    expect(partsOf(observation.answers).resource).toMatchObject({ kind: "answered" });
    expect(observation.pods.all).toHaveLength(2);
  });

  describe("when a list of all namespaces breaks off between two pages", () => {
    const namespaces = ["a", "b", "c", "d", "e"];
    const watched = namespaces.map((ns) => watch(ns, "web"));
    const broken = async (order: readonly string[]) => {
      fill(
        order.map((ns) => [ns, "web"] as const),
        300,
      );
      const third = ({ url }: { readonly url: URL }) =>
        url.pathname === "/api/v1/pods" && url.searchParams.get("continue") === "1000";
      server.overrides.push({ match: third, answer: () => undefined });
      const observed = await client.observe(watched, { ...WHOLE, budgetMs: 2_000 });
      return watched
        .map((one) => seen(observed, one).observation)
        .map(({ pods, answers }) => [pods.all.length, partsOf(answers).resource?.kind]);
    };

    it("the namespaces that it has shown to their end are decided, and the others hold", async () => {
      expect(await broken(namespaces)).toEqual([
        [300, "answered"],
        [300, "answered"],
        [300, "answered"],
        [0, "failed"],
        [0, "failed"],
      ]);
    });

    it("all hold where it comes back to a namespace, so that none is known to be whole", async () => {
      expect(await broken(["a", "b", "a", "c", "d", "e"])).toEqual(
        namespaces.map(() => [0, "failed"]),
      );
    });
  });

  it("ends within its budget when the cluster does not answer, with failures and no exception", async () => {
    server.answer = () => undefined;
    const web = watch("shop", "web");
    const before = performance.now();
    const { observation } = seen(await client.observe([web], { ...WHOLE, budgetMs: 300 }), web);
    expect(performance.now() - before).toBeLessThan(1_500);
    expect(observation.scale).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "Timeout" },
    });
  });

  it("does not send calls that could no longer be answered in time", async () => {
    server.documents.set("/apis/example.com", {
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }],
    });
    server.documents.set("/apis/example.com/v1", {
      resources: [{ name: "rollouts", kind: "Rollout" }],
    });
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("/scale"),
      answer: (...call) => setTimeout(() => json(200, {})(...call), 100),
    });
    const target = { apiVersion: "example.com/v1", kind: "Rollout" };
    const watched = Array.from({ length: 100 }, (_, index) =>
      watch("shop", `app-${index}`, { metrics: [], target: { ...target, name: `app-${index}` } }),
    );
    const observed = await client.observe(watched, { ...WHOLE, budgetMs: 250 });
    const reasons = watched.flatMap((one) => {
      const { scale } = seen(observed, one).observation;
      return scale.kind === "failed" ? [scale.failure.reason] : [];
    });
    expect(reasons).toContain("TenantOverShare");
    expect(server.paths().filter((path) => path.endsWith("/scale")).length).toBeLessThanOrEqual(32);
  });
});
