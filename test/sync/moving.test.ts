import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namespace, partitionName } from "../../lib/rules/model/ids.ts";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { markMoving } from "../../lib/stack/store/head/moving.ts";
import { getCluster, putCluster } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const LEASE_MS = 34_000;

/**
 * A partition that an edit has marked, to take the namespace "shop" away from it, and whose lease
 * has run out since. The workload wants another count.
 */
const marked = async (): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  await world.sync();
  world.nowMs += PERIOD_MS;
  const { tables, partition, nowMs } = world;
  const claimed = await claim(tables, {
    partition,
    dueMs: nowMs,
    clockMs: nowMs,
    leaseUntilMs: nowMs + LEASE_MS,
  });
  if (claimed.kind !== "claimed") throw new Error("it was not claimed");
  const { epoch, writeNumber } = claimed.head;
  await markMoving(tables, { partition, epoch, writeNumber }, { clusterVersion: 1, epoch });
  world.nowMs += 3 * PERIOD_MS;
  workloadOf(world, "web").demand = 5;
  return world;
};

const flip = async ({ tables, record }: World): Promise<string> => {
  const partitions = [
    { name: partitionName("shops"), namespaces: [namespace("shop")] },
    ...record.partitions,
  ];
  return (await putCluster(tables, { ...record, partitions, version: 2 }, 1)).kind;
};

describe("a sync of a partition that an edit has marked", () => {
  it("goes by the cluster as the edit has left it, where the edit was first to write it", async () => {
    const world = await marked();
    let flipped = "not yet";
    const client = around(world.tables.client, async (_command, send, input) => {
      if (JSON.stringify(input).includes("SET version = :next")) flipped = await flip(world);
      return send();
    });
    expect(await world.sync(world.worker({ tables: { ...world.tables, client } }))).toMatchObject({
      kind: "completed",
      autoscalers: 0,
    });
    expect(flipped).toBe("stored");
    expect(world.cluster.puts).toEqual([]);
  });

  it("raises the version before it decides, so that the edit is refused afterwards", async () => {
    const world = await marked();
    expect(await world.sync()).toMatchObject({
      kind: "completed",
      autoscalers: 1,
      events: [{ to: 5 }],
    });
    expect(await flip(world)).toBe("conflict");
    expect(await getCluster(world.tables, world.record.name)).toMatchObject({ version: 2 });
  });
});
