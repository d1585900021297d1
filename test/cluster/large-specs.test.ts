import { afterEach, beforeEach, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { type Kubernetes, kubernetes, type Raw } from "./stand-in/kubernetes.ts";
import { json } from "./stand-in/server.ts";
import { clientTo } from "./stand-in/watched.ts";

const PATH = "/apis/tidemark.dev/v1/podautoscalers";
const OWN = SPEC_KINDS.filter(({ kind }) => kind === "PodAutoscaler");
const LARGE = 140;

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const object = (namespace: string, name: string, annotations: Raw): Raw => ({
  metadata: {
    namespace,
    name,
    uid: `uid-${name}`,
    resourceVersion: "7",
    generation: 1,
    labels: { team: namespace },
    annotations,
  },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 10,
  },
});

it("140 objects with annotations of 250 KB do not stop the LIST of the others, and none of the annotations is kept", async () => {
  const note = { "example.com/note": "n".repeat(250_000) };
  server.collections.set(PATH, [
    ...Array.from({ length: LARGE }, (_, at) => object("attack", `a-${at}`, note)),
    object("shop", "web", { "example.com/note": "short" }),
  ]);
  const { listings } = await client.listSpecs({
    kinds: OWN,
    namespaces: "all",
    knownVersion: () => undefined,
    budgetMs: 30_000,
  });
  const objects = listings.flatMap(({ outcome }) =>
    outcome.kind === "listed" ? outcome.objects : [],
  );
  expect(objects).toHaveLength(LARGE + 1);
  expect(
    objects.every(({ manifest = "" }) => manifest.length < 400 && !manifest.includes("note")),
  ).toBe(true);
  expect(objects.at(-1)?.manifest).toContain('"labels":{"team":"shop"}');
});

const listed = async (budgetMs = 30_000) =>
  (
    await client.listSpecs({
      kinds: OWN,
      namespaces: "all",
      knownVersion: () => undefined,
      budgetMs,
    })
  ).listings;
const note = { "example.com/note": "n".repeat(250_000) };
const heavyCluster = (): void => {
  server.collections.set(PATH, [
    ...Array.from({ length: 20 }, (_, at) => object("attack", `a-${at}`, note)),
    ...Array.from({ length: 5 }, (_, at) => object("shop", `s-${at}`, {})),
  ]);
};

it("a namespace with much heavier objects than the others has a LIST of its own from the second sync on, and each object is there once", async () => {
  heavyCluster();
  await listed();
  const listings = await listed();
  expect(
    listings.map(({ namespace, without }) => ({ namespace, without: without && [...without] })),
  ).toEqual([
    { namespace: undefined, without: ["attack"] },
    { namespace: "attack", without: undefined },
  ]);
  const objects = listings.map(({ outcome }) =>
    outcome.kind === "listed" ? outcome.objects.length : outcome.failure.message,
  );
  expect(objects).toEqual([5, 20]);
});

it("a server that knows no field selector gives the objects of the heavy namespace once, too", async () => {
  heavyCluster();
  await listed();
  const failure = {
    kind: "Status",
    code: 400,
    reason: "BadRequest",
    message: "field label not supported: metadata.namespace",
  };
  server.overrides.push({
    match: ({ url }) => url.searchParams.has("fieldSelector"),
    answer: json(400, failure),
  });
  const listings = await listed();
  const names = listings.flatMap(({ outcome }) =>
    outcome.kind === "listed" ? outcome.objects.map(({ name }) => name) : [],
  );
  expect(names).toHaveLength(25);
  expect(new Set(names).size).toBe(25);
});

it("a heavy namespace whose LIST fails keeps no other object from being read", async () => {
  heavyCluster();
  await listed();
  const failure = {
    kind: "Status",
    code: 500,
    reason: "InternalError",
    message: "etcd has no leader",
  };
  server.overrides.push({
    match: ({ url }) => url.pathname.includes("/namespaces/attack/"),
    answer: json(500, failure),
  });
  const [light, heavy] = await listed();
  expect(light?.outcome).toMatchObject({
    kind: "listed",
    objects: Array.from({ length: 5 }, () => ({ namespace: "shop" })),
  });
  expect(heavy).toMatchObject({ namespace: "attack", outcome: { kind: "failed" } });
});
