import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namespace, partitionName } from "../../../lib/rules/model/ids.ts";
import { putAutoscaler } from "../../../lib/stack/store/records/autoscalers.ts";
import { getCluster, putCluster } from "../../../lib/stack/store/records/clusters.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import { STORED_MAX } from "../../../lib/stack/sync/specs/store-room.ts";
import { type Engine, startMemory } from "../../contracts/engines.ts";
import { around } from "../../contracts/faults.ts";
import { PERIOD_MS } from "../world.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const namesOf = async (world: SpecsWorld): Promise<readonly string[]> =>
  (await world.records()).map(({ name }) => name);

/** True for the write of the record of an autoscaler. */
const isRecord = (input: unknown): boolean => {
  const text = JSON.stringify(input);
  return text.includes('"manifest"') && text.includes('"origin"');
};

/** An environment whose tables ask `call` before each request. */
const withTables = (world: SpecsWorld, call: Parameters<typeof around>[1]) =>
  world.cold({ tables: { ...world.tables, client: around(world.tables.client, call) } });

describe("the objects that a sync stores", () => {
  it("are 200 at most: the others wait, the log line counts them, and the next sync stores and scales them", {
    timeout: 30_000,
  }, async () => {
    const names = Array.from({ length: STORED_MAX + 5 }, (_, at) => `web-${at}`);
    const world = await specsWorld(engine, names, ["PodAutoscaler"]);
    for (const name of names) world.apply(name);
    const first = await world.next();
    expect(first).toMatchObject({ kind: "completed" });
    expect(JSON.stringify(first)).toContain(
      `5 new objects wait for the next sync; this one stored ${STORED_MAX}, so all are stored in about 1 more`,
    );
    expect(await namesOf(world)).toHaveLength(STORED_MAX);
    expect(names.filter((name) => world.replicas(name) === 5)).toHaveLength(STORED_MAX);
    await world.next();
    expect(await namesOf(world)).toHaveLength(names.length);
    expect(names.every((name) => world.replicas(name) === 5)).toBe(true);
  });

  it("hold where another editor was first, the others go on, and the next sync follows the object", async () => {
    const world = await specsWorld(engine, ["web", "api"], ["PodAutoscaler"]);
    world.apply("web", { uid: "object-of-web" });
    world.apply("api", { uid: "object-of-api" });
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    const edited = {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    };
    world.apply("web", {
      uid: "object-of-web",
      spec: { ...edited, metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }] },
    });
    world.apply("api", { uid: "object-of-api" });
    let refusals = 0;
    const beaten = withTables(world, async (_command, send, input) => {
      if (!isRecord(input) || !JSON.stringify(input).includes("object-of-web")) return send();
      refusals += 1;
      throw new ConditionalCheckFailedException({
        $metadata: {},
        message: "The conditional request failed",
      });
    });
    await world.next(beaten);
    expect(refusals).toBeGreaterThan(0);
    const generations = async () =>
      Object.fromEntries(
        (await world.records()).map(({ name, origin }) => [name, origin?.generation]),
      );
    expect(await generations()).toEqual({ web: 1, api: 2 });
    await world.next();
    expect(await generations()).toEqual({ web: 2, api: 2 });
  });

  it("are none where the cluster is being removed: what is new is not stored, and what has changed holds", async () => {
    const world = await specsWorld(engine, ["web", "api"], ["PodAutoscaler"]);
    world.apply("web", { uid: "object-of-web" });
    await world.next();
    const before = await world.records();
    const stored = await getCluster(world.tables, world.record.name);
    if (!stored) throw new Error("there is no cluster");
    await putCluster(
      world.tables,
      { ...stored, removing: { by: "ann", atMs: world.nowMs }, version: stored.version + 1 },
      stored.version,
    );
    world.nowMs += STORED_EVERY_MS;
    world.apply("api");
    world.apply("web", {
      uid: "object-of-web",
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      },
    });
    const puts = world.cluster.puts.length;
    await world.next(world.cold());
    expect(await world.records()).toEqual(before);
    expect(world.cluster.puts).toHaveLength(puts);
  });

  it("are of this cluster, also where an apply to an earlier one of its name has left a record", async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    const left = {
      ...world.autoscaler("web"),
      manifest: JSON.stringify({ kind: "PodAutoscaler" }),
      clusterUid: "uid-of-another",
    };
    await putAutoscaler(world.tables, left, undefined);
    world.apply("web");
    await world.next();
    const [record] = await world.records();
    expect(record).toMatchObject({ uid: left.uid, origin: { kind: "PodAutoscaler" } });
    expect(record).not.toHaveProperty("clusterUid");
    expect(world.replicas("web")).toBe(5);
  });

  it("are those of its own partition, and a sync that dies at any call leaves nothing that the next one does not mend", {
    timeout: 60_000,
  }, async () => {
    let deaths = 0;
    for (let dieAt = 1; dieAt <= 24; dieAt++) {
      const world = await specsWorld(engine, ["web", "api"], ["PodAutoscaler"]);
      const { name } = world.record;
      const cluster = await getCluster(world.tables, name);
      if (!cluster) throw new TypeError("the world has a cluster");
      const partitions = [
        { name: partitionName("cart"), namespaces: [namespace("cart")] },
        ...cluster.partitions,
      ];
      await putCluster(
        world.tables,
        { ...cluster, partitions, version: cluster.version + 1 },
        cluster.version,
      );
      world.apply("web");
      world.apply("api");
      world.apply("far", { metadata: { namespace: "cart", name: "far" } });
      let calls = 0;
      const mortal = withTables(world, async (_command, send) => {
        calls += 1;
        // The call takes effect where its number is even, and nothing is heard of it.
        if (calls === dieAt && dieAt % 2 === 0) await send();
        if (calls >= dieAt) throw new Error("the process has died");
        return send();
      });
      await world.next(mortal).catch(() => {
        deaths += 1;
      });
      // The lease of the dead process runs out.
      world.nowMs += 4 * PERIOD_MS;
      for (let sync = 0; sync < 4; sync++) await world.next(world.cold());
      expect([dieAt, ...(await namesOf(world))]).toEqual([dieAt, "api", "web"]);
      expect([dieAt, world.replicas("web"), world.replicas("api")]).toEqual([dieAt, 5, 5]);
      const applied = (await world.events()).filter(({ outcome }) => outcome === "applied");
      expect(new Set(applied.map(({ name: scaled }) => scaled)).size).toBe(applied.length);
    }
    expect(deaths).toBeGreaterThan(10);
  });
});
