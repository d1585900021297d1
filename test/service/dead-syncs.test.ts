import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/answers/service/open.ts";
import { problemsOf } from "../../lib/stack/plan/count-problems.ts";
import { readGlances } from "../../lib/stack/store/head/head.ts";
import { getCluster } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, workloadOf } from "../sync/world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** The lease of the sync before ends by itself, and alarms wait for the first syncs. */
const LATER_MS = 80 * PERIOD_MS;

/** A cluster whose second sync dies with its first PUT: it has stored its intents by then. */
const dyingWorld = async () => {
  const world = await newWorld(engine.client, engine.tables, { web: 4 });
  await world.sync();
  const completedMs = world.nowMs;
  let died = (): void => undefined;
  const dead = world.worker({
    connect: async () => ({
      ...world.cluster.client,
      putScale: () => {
        died();
        return new Promise(() => undefined);
      },
    }),
  });
  world.nowMs += LATER_MS;
  workloadOf(world, "web").demand = 9;
  await new Promise<void>((resolve, reject) => {
    died = resolve;
    world.sync(dead).catch(reject);
  });
  const queries = openQueries({ tables: world.tables, clock: () => world.nowMs });
  return { world, queries, completedMs };
};

describe("a sync that died after it had stored its intents", () => {
  it("is no completed one: rows and cluster say when the last one was completed", async () => {
    const { world, queries, completedMs } = await dyingWorld();
    expect((await world.head()).nowMs).toBeGreaterThan(completedMs);
    const syncedAt = new Date(completedMs).toISOString();
    const [rows] = await Array.fromAsync(queries.rows({ cluster: world.record.name }));
    expect(rows?.partitions).toMatchObject([{ syncedAt, ageSeconds: LATER_MS / 1_000 }]);
    const { partitions, state } = await queries.cluster(world.record.name);
    expect(state).toBe("late");
    expect(partitions).toMatchObject([{ syncedAt }]);
    expect(await queries.partition(world.record.name)).toMatchObject({ syncedAt });
  });

  it("leaves the partition late for the alarms, since the last one that was completed", async () => {
    const { world, completedMs } = await dyingWorld();
    const { tables, partition, nowMs } = world;
    const record = await getCluster(tables, partition.cluster);
    if (!record) throw new Error("there is no cluster");
    const heads = await readGlances(tables, [partition]);
    expect(
      problemsOf({ fleet: {}, clusters: [{ kind: "read", record }], heads, nowMs }),
    ).toContainEqual(expect.objectContaining({ kind: "late", sinceMs: completedMs }));
  });
});
