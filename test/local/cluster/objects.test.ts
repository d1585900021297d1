import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Fetched,
  type FetchOptions,
  type RunningCluster,
  runCluster,
} from "./running-cluster.ts";

const OWN = "/apis/tidemark.dev/v1/namespaces/shop/podautoscalers";
const WATERMARKS = "/apis/datadoghq.com/v1alpha1/namespaces/shop/watermarkpodautoscalers";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events";
const APPLY = { "content-type": "application/apply-patch+yaml" };
const MERGE = { "content-type": "application/merge-patch+json" };

const SPEC = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 9,
  metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 60 }],
};
const own = (name: string, more: object = {}) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name, ...more },
  spec: SPEC,
});

interface Shown {
  readonly metadata: {
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly managedFields: readonly object[];
  };
  readonly spec: { readonly maxReplicas: number };
  readonly status?: object;
}

let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster();
});
afterAll(() => cluster.remove());

const send = (
  method: string,
  path: string,
  body?: unknown,
  headers: FetchOptions["headers"] = {},
): Promise<Fetched> =>
  cluster.fetch(path, { method, headers, ...(body !== undefined && { body }) });
const shown = (fetched: Fetched): Shown => fetched.json as Shown;

describe("the objects of the simulated cluster", () => {
  it("are made, edited, read and deleted; the generation counts changes of the spec alone", async () => {
    const made = shown(await send("POST", `${OWN}?fieldManager=kubectl-create`, own("a")));
    expect(made.metadata).toMatchObject({
      generation: 1,
      managedFields: [{ manager: "kubectl-create", operation: "Update" }],
    });
    const labelled = shown(
      await send("PATCH", `${OWN}/a`, { metadata: { labels: { team: "shop" } } }, MERGE),
    );
    expect(labelled.metadata).toMatchObject({
      generation: 1,
      uid: made.metadata.uid,
      labels: { team: "shop" },
    });
    const edited = shown(await send("PATCH", `${OWN}/a`, { spec: { maxReplicas: 5 } }, MERGE));
    expect([edited.metadata.generation, edited.spec.maxReplicas]).toEqual([2, 5]);
    expect(
      shown(await send("PATCH", `${OWN}/a`, { spec: { maxReplicas: 5 } }, MERGE)).metadata
        .resourceVersion,
    ).toBe(edited.metadata.resourceVersion);
    expect((await send("DELETE", `${OWN}/a`)).code).toBe(200);
    expect((await send("GET", `${OWN}/a`)).code).toBe(404);
    const again = shown(await send("POST", OWN, own("a")));
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });

  it("take a status by server-side apply, under the uid and version that were read, and leave the generation", async () => {
    const made = shown(await send("PATCH", `${OWN}/b?fieldManager=ada`, own("b"), APPLY));
    const { uid, resourceVersion } = made.metadata;
    const status = { ...own("b", { uid, resourceVersion }), status: { currentReplicas: 3 } };
    const told = shown(
      await send("PATCH", `${OWN}/b/status?fieldManager=tidemark-1&force=true`, status, APPLY),
    );
    expect(told).toMatchObject({ status: { currentReplicas: 3 }, metadata: { generation: 1 } });
    expect(told.metadata.managedFields[1]).toMatchObject({
      manager: "tidemark-1",
      subresource: "status",
      operation: "Apply",
    });
    expect((await send("PATCH", `${OWN}/b/status`, status, APPLY)).code).toBe(409);
    expect((await send("PATCH", `${OWN}/b`, own("b", { uid: "another" }), APPLY)).code).toBe(409);
    const annotated = shown(
      await send(
        "PATCH",
        `${OWN}/b`,
        { metadata: { name: "b", annotations: { note: "kept" } } },
        APPLY,
      ),
    );
    expect(annotated).toMatchObject({
      spec: SPEC,
      metadata: { generation: 1 },
      status: { currentReplicas: 3 },
    });
  });

  it("refuse a PodAutoscaler that apply refuses, with the field, and take any WatermarkPodAutoscaler", async () => {
    const refused = await send("POST", OWN, { ...own("c"), spec: { ...SPEC, maxReplicas: 0 } });
    expect(refused).toMatchObject({
      code: 422,
      json: { reason: "Invalid", details: { causes: [{ field: "spec.maxReplicas" }] } },
    });
    const watermark = {
      apiVersion: "datadoghq.com/v1alpha1",
      kind: "WatermarkPodAutoscaler",
      metadata: { name: "w" },
      spec: { metrics: "none" },
    };
    expect((await send("POST", WATERMARKS, watermark)).code).toBe(200);
    expect((await send("POST", WATERMARKS, watermark)).json).toMatchObject({
      code: 409,
      reason: "AlreadyExists",
    });
    expect((await send("POST", OWN.replace("shop", "bank"), own("c"))).json).toMatchObject({
      code: 404,
      message: 'namespaces "bank" not found',
    });
    expect((await send("PUT", `${OWN}/none`, own("none"))).code).toBe(404);
    expect((await send("POST", OWN, "no object")).code).toBe(400);
    expect(
      (await send("PATCH", `${OWN}/b`, [], { "content-type": "application/json-patch+json" })).code,
    ).toBe(400);
  });

  it("stay as they are in a dry run, and under preconditions of a delete that are not met", async () => {
    expect(shown(await send("POST", `${OWN}?dryRun=All`, own("d"))).metadata).toMatchObject({
      name: "d",
      generation: 1,
    });
    expect((await send("GET", `${OWN}/d`)).code).toBe(404);
    expect(
      (await send("PATCH", `${OWN}/b?dryRun=All`, { spec: { maxReplicas: 0 } }, MERGE)).code,
    ).toBe(422);
    const before = shown(await send("GET", `${OWN}/b`));
    expect(
      shown(await send("PATCH", `${OWN}/b?dryRun=All`, { spec: { maxReplicas: 3 } }, MERGE))
        .metadata.generation,
    ).toBe(2);
    expect((await send("DELETE", `${OWN}/b`, { dryRun: ["All"] })).code).toBe(200);
    expect((await send("DELETE", `${OWN}/b`, { preconditions: { uid: "another" } })).code).toBe(
      409,
    );
    expect(
      (await send("DELETE", `${OWN}/b`, { preconditions: { resourceVersion: "1" } })).code,
    ).toBe(409);
    expect((await send("POST", `${EVENTS}?dryRun=All`, { metadata: { name: "b.0" } })).code).toBe(
      400,
    );
    expect(shown(await send("GET", `${OWN}/b`))).toEqual(before);
  });

  it("are watched from the version of a list; a version whose changes are gone is a 410, and other kinds are a 405", async () => {
    const list = (await send("GET", `${OWN}?labelSelector=team%3Da`)).json as {
      readonly metadata: { readonly resourceVersion: string };
    };
    const since = list.metadata.resourceVersion;
    await send("POST", OWN, own("e", { labels: { team: "a" } }));
    await send("PATCH", `${OWN}/e`, { spec: { maxReplicas: 4 } }, MERGE);
    await send("PATCH", `${OWN}/e`, { metadata: { labels: { team: "b" } } }, MERGE);
    const watch = (query: string) =>
      send("GET", `${OWN}?watch=true&timeoutSeconds=1&${query}`, undefined, {
        accept: "application/json",
      });
    const types = async (query: string) =>
      (await watch(query)).bytes
        .toString()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ type, object }) => `${type} ${object.metadata.name ?? "-"}`);
    const watched = [
      types(`labelSelector=team%3Da&resourceVersion=${since}`),
      types("fieldSelector=metadata.name%3De&sendInitialEvents=true"),
    ];
    expect(await Promise.all(watched)).toEqual([
      ["ADDED e", "MODIFIED e", "DELETED e"],
      ["ADDED e", "BOOKMARK -"],
    ]);
    expect((await send("GET", `/api/v1/namespaces/shop/pods?watch=true`)).code).toBe(405);
    await cluster.close();
    cluster = await runCluster({ dataDir: cluster.dataDir, clock: () => cluster.time.nowMs });
    expect((await watch(`resourceVersion=${since}`)).json).toMatchObject({
      code: 410,
      reason: "Expired",
    });
    expect((await send("DELETE", `${OWN}/e`)).code).toBe(200);
  });

  it("are watched by a hundred at once; one more is a 429, until a watch ends", async () => {
    const clients = new AbortController();
    const { signal } = clients;
    const watch = (seconds: number, more: FetchOptions = {}) =>
      cluster.fetch(`${OWN}?watch=true&timeoutSeconds=${seconds}`, more);
    const answers = Array.from({ length: 102 }, () => watch(60, { signal, timeoutMs: 60_000 }));
    // Only a refused one ends.
    const first = await Promise.race(answers);
    expect(first.json).toMatchObject({
      code: 429,
      reason: "TooManyRequests",
      details: { retryAfterSeconds: 1 },
    });
    await expect.poll(async () => (await watch(60)).code).toBe(429);
    clients.abort();
    const ended = await Promise.allSettled(answers);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    await expect.poll(async () => (await watch(1)).code, { timeout: 10_000 }).toBe(200);
  });

  it("are still there after a restart, with later versions; Events are not, as after an hour", async () => {
    const event = {
      metadata: { name: "b.1" },
      regarding: { name: "b" },
      note: "Scaled",
      reason: "SuccessfulRescale",
      eventTime: "2026-01-05T08:00:00.000000Z",
    };
    expect((await send("POST", EVENTS, event)).code).toBe(200);
    const patched = await send(
      "PATCH",
      `${EVENTS}/b.1`,
      { series: { count: 3, lastObservedTime: "2026-01-05T08:10:00.000000Z" } },
      MERGE,
    );
    expect(patched.json).toMatchObject({ note: "Scaled", series: { count: 3 } });
    const core = await send(
      "GET",
      "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name=b",
    );
    expect(core.json).toMatchObject({
      items: [{ message: "Scaled", count: 3, lastTimestamp: "2026-01-05T08:10:00Z" }],
    });
    cluster.time.nowMs += 3_600_000;
    expect((await send("GET", EVENTS)).json).toMatchObject({ items: [] });
    const before = shown(await send("GET", `${OWN}/b`));
    await cluster.close();
    const { dataDir, time } = cluster;
    cluster = await runCluster({ dataDir, clock: () => time.nowMs });
    const after = shown(await send("GET", `${OWN}/b`));
    expect(after).toEqual(before);
    const edited = shown(await send("PATCH", `${OWN}/b`, { spec: { maxReplicas: 7 } }, MERGE));
    expect(Number(edited.metadata.resourceVersion)).toBeGreaterThan(
      Number(before.metadata.resourceVersion),
    );
  });
});
