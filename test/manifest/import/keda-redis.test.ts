import { describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import { discoverSources } from "../../../lib/rules/manifest/import/keda/discover.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

const objectOf = (type: string, metadata: Json) => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { name: "web" },
    minReplicaCount: 0,
    triggers: [{ type, metadata, authenticationRef: { name: "redis" } }],
  },
});

const imported = (type: string, metadata: Json, source = "jobs") => {
  const { manifests, findings } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [objectOf(type, metadata)],
      sources: { named: { [type]: source }, discovered: false },
    },
    "native",
  );
  const [metric] = (manifests[0]?.["spec"] as { metrics: Json[] } | undefined)?.metrics ?? [];
  return {
    metric,
    notes: findings.map(({ severity, of, message }) => `${severity} ${of}: ${message}`),
  };
};

const AT = { address: "redis.example.com:6379" };

describe("a trigger of a Redis", () => {
  it.each<readonly [string, string, Json, Json]>([
    [
      "the length of a list",
      "redis",
      { ...AT, listName: "jobs" },
      { redis: { source: "jobs", key: "jobs" }, target: 5, activation: 0 },
    ],
    [
      "the length of a list in another database",
      "redis",
      { ...AT, listName: "jobs", listLength: "20", activationListLength: "3", databaseIndex: "4" },
      { redis: { source: "jobs", key: "jobs", database: 4 }, target: 20, activation: 3 },
    ],
    [
      "the messages of a group that are not acknowledged",
      "redis-streams",
      { ...AT, stream: "s", consumerGroup: "g", pendingEntriesCount: "7" },
      { redis: { source: "jobs", key: "s", count: "Pending", group: "g" }, target: 7 },
    ],
    [
      "the messages of a group that are not read",
      "redis-cluster-streams",
      { ...AT, stream: "s", consumerGroup: "g", lagCount: "9", activationLagCount: "2" },
      { redis: { source: "jobs", key: "s", count: "Lag", group: "g" }, target: 9, activation: 2 },
    ],
    [
      "the length of a stream without a group",
      "redis-streams",
      { ...AT, stream: "s", streamLength: "11" },
      { redis: { source: "jobs", key: "s" }, target: 11 },
    ],
  ])("becomes a question to it: %s", (_what, type, metadata, metric) => {
    const found = imported(type, metadata);
    expect(found.metric).toMatchObject(metric);
    expect(found.notes.filter((note) => note.startsWith("lost"))).toEqual([]);
    expect(found.notes.join("\n")).toContain(
      'the source "jobs" must stand for redis://redis.example.com:6379',
    );
  });

  it("names the target that KEDA does not read", () => {
    const { notes } = imported("redis-streams", {
      ...AT,
      stream: "s",
      consumerGroup: "g",
      lagCount: "9",
      pendingEntriesCount: "7",
    });
    expect(notes.join("\n")).toContain(
      "pendingEntriesCount: KEDA does not read it: lagCount counts",
    );
  });

  it("is refused where the name of its list is in the environment of the pods, and not for its address", () => {
    const { metric, notes } = imported("redis", {
      addressFromEnv: "REDIS",
      listName: "jobs",
      listNameFromEnv: "LIST",
    });
    expect(metric).toBeUndefined();
    expect(notes.filter((note) => note.startsWith("lost"))).toEqual([
      expect.stringContaining("listNameFromEnv: it is read from the environment of the pods"),
    ]);
  });

  it("is asked by its exporter where the source says so, and of a Sentinel always", () => {
    const list = { ...AT, listName: "jobs" };
    const query = 'sum(redis_key_size{db="db0",key="jobs"})';
    expect(imported("redis", list, "prometheus:main").metric).toMatchObject({
      prometheus: { source: "main", query },
    });
    expect(imported("redis-sentinel", list, "main").metric).toMatchObject({
      prometheus: { source: "main", query },
    });
  });
});

describe("discovering a Redis", () => {
  it.each<readonly [string, Json, string, string]>([
    ["redis", AT, "redis", "redis://redis.example.com:6379"],
    ["redis", { host: "h", port: "6380", enableTLS: "true" }, "redis", "rediss://h:6380"],
    ["redis", { host: "h" }, "redis", "redis://h:6379"],
    ["redis-cluster", { addresses: "a:1, b:2" }, "redis-cluster", "redis://a:1"],
    ["redis-streams", { address: "redis.jobs.svc:6379" }, "redis", "redis://redis.jobs.svc:6379"],
  ])("of a trigger %s at %j", (type, metadata, kind, address) => {
    const [source, ...more] = discoverSources([objectOf(type, { ...metadata, listName: "l" })], []);
    expect(more).toEqual([]);
    expect(source?.place).toMatchObject({ kind, address });
    // The API server forwards HTTP only.
    expect(source?.service).toBeUndefined();
  });

  it("prints the keys that are counted, with their database", () => {
    const asking = (type: string, metadata: Json) => objectOf(type, { ...AT, ...metadata });
    const [source] = discoverSources(
      [
        asking("redis", { listName: "jobs", databaseIndex: "4" }),
        asking("redis", { listName: "mail" }),
        asking("redis-streams", { stream: "events" }),
      ],
      [],
    );
    expect(source?.keys).toEqual(["db4/jobs", "events", "mail"]);
  });
});
