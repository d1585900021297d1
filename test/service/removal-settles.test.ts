import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { deleteAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { getCluster } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { PutFault } from "../sync/memory-cluster.ts";
import { leaveUncounted } from "./world/uncounted.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** A context whose waits move the clock of the world, with `meanwhile` done at each of them. */
const contextOf = (
  world: World,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): ServiceContext => {
  const wait = async (ms: number): Promise<void> => {
    world.nowMs += ms;
    await meanwhile();
  };
  const tables = { ...world.tables, wait };
  return {
    tables,
    insert: insertByStatement(tables),
    clock: () => world.nowMs,
    by: "ada",
    newUid: () => "new",
  };
};

/** A cluster whose only autoscaler scaled 2 to 5, met a fault, and was then deleted. */
const withOpenIntent = async (fault: PutFault): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  workloadOf(world, "web").demand = 5;
  world.cluster.faults.push(fault);
  await world.sync();
  expect((await world.head()).intents).toHaveLength(1);
  await deleteAutoscaler(world.tables, world.autoscaler("web"), 1);
  return world;
};

const removed = async (world: World, context = contextOf(world)): Promise<void> => {
  await openService(context).removeCluster(world.record.name);
  expect(await getCluster(world.tables, world.record.name)).toBeUndefined();
};

describe("a cluster with a scale whose answer was lost", () => {
  it("is removed after a sync has settled the scale with its true outcome", async () => {
    const world = await withOpenIntent("lost answer");
    const context = contextOf(world, async () => {
      if (world.nowMs % PERIOD_MS < 2_000) await world.sync();
    });
    await removed(world, context);
    expect(await world.events()).toMatchObject([
      { id: "uid-web:1", from: 2, to: 5, outcome: "applied" },
    ]);
  });

  it("is removed after the deadline with the event of an unknown outcome, when no sync could settle it", async () => {
    const world = await withOpenIntent("lost answer");
    const begunMs = world.nowMs;
    await removed(world);
    expect(world.nowMs - begunMs).toBeGreaterThan(39_000);
    const detail = "the cluster was removed before a sync could look at the workload";
    expect(await world.events()).toMatchObject([
      { id: "uid-web:1", from: 2, to: 5, outcome: "unknown", detail, settledMs: world.nowMs },
    ]);
    expect(await world.head()).toMatchObject({ intents: [], leaseUntilMs: 0 });
  });

  it("leaves no settled scale in the head, which a cluster of the same name would count", async () => {
    const world = await withOpenIntent("lost answer");
    for (let periods = 0; periods < 4; periods++) {
      world.nowMs += PERIOD_MS;
      await world.sync();
    }
    expect((await world.head()).intents).toEqual([]);
    const scale = {
      id: "uid-web:9",
      uid: autoscalerUid("uid-web"),
      from: 5,
      to: 2,
      outcome: "applied",
    } as const;
    await leaveUncounted(world.tables, world.partition, {
      ...scale,
      decidedMs: world.nowMs,
      settledMs: world.nowMs,
    });
    expect((await world.head()).uncounted).toHaveLength(1);
    await removed(world);
    expect(await world.head()).toMatchObject({ intents: [], uncounted: [] });
  });

  it("keeps the scale in the head where an autoscaler came meanwhile: its windows must count it", async () => {
    const world = await withOpenIntent("lost answer");
    let isBack = false;
    const context = contextOf(world, async () => {
      if (isBack) return;
      isBack = true;
      expect(
        await putAutoscaler(world.tables, world.autoscaler("web", 3), undefined),
      ).toMatchObject({ kind: "stored" });
    });
    await expect(openService(context).removeCluster(world.record.name)).rejects.toMatchObject({
      code: "service.in-use",
    });
    expect(isBack).toBe(true);
    expect((await world.head()).intents).toMatchObject([{ id: "uid-web:1" }]);
    expect(await world.events()).toEqual([]);
  });

  it("keeps its place when the event cannot be stored, and takes the mark off", async () => {
    const world = await withOpenIntent("late");
    const context = contextOf(world);
    const insert: ServiceContext["insert"] = async (items) => {
      if (items.some(({ sk }) => sk.includes("event#"))) throw new Error("history is read-only");
      return context.insert(items);
    };
    await expect(
      openService({ ...context, insert }).removeCluster(world.record.name),
    ).rejects.toThrow("history is read-only");
    const left = await getCluster(world.tables, world.record.name);
    expect(left).toMatchObject({ version: 3 });
    expect(left?.removing).toBeUndefined();
    expect(await world.head()).toMatchObject({ intents: [{ id: "uid-web:1" }], leaseUntilMs: 0 });
  });
});
