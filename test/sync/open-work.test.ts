import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { workloadKey } from "../../lib/stack/sync/load/open-intents.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const worldOf = async (): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  workloadOf(world, "web").demand = 5;
  return world;
};

const later = async (world: World, periods = 1): Promise<void> => {
  world.nowMs += periods * PERIOD_MS;
  await world.sync();
};

describe("work that an earlier sync has left", () => {
  it("keeps an autoscaler that has another target now from writing there, until the scale of the old target is settled", async () => {
    const world = await worldOf();
    world.cluster.faults.push("lost request");
    await world.sync();
    expect((await world.head()).intents).toMatchObject([{ target: { name: "web" } }]);
    world.cluster.workloads.set("api", {
      ...workloadOf(world, "web"),
      uid: "uid-of-api",
      demand: 9,
    });
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "api" }, 1);
    await raiseSpecVersion(world.tables, world.partition);
    await later(world);
    expect([world.cluster.puts, (await world.head()).intents.length]).toEqual([[], 1]);
    // The deadline, and two looks after it.
    for (let syncs = 0; syncs < 5; syncs++) await later(world);
    expect(world.cluster.puts.map(({ key }) => key)).toEqual(["api"]);
  });

  it("is found whatever version of the API a target names, and belongs to no other group, kind or namespace", () => {
    const key = (apiVersion: string, kind = "Deployment", namespace = "shop") =>
      workloadKey(namespace, { apiVersion, kind, name: "web" });
    expect(key("apps/v1beta2")).toBe(key("apps/v1"));
    expect(
      new Set([
        key("apps/v1"),
        key("v1"),
        key("extensions/v1"),
        key("apps/v1", "StatefulSet"),
        key("apps/v1", "Deployment", "pay"),
      ]).size,
    ).toBe(5);
  });

  it("is repeated after a conflict only before the deadline: none of its requests is sent later", async () => {
    const world = await worldOf();
    const web = workloadOf(world, "web");
    const seen: number[] = [];
    world.cluster.beforePut = () => {
      seen.push(world.nowMs);
      // The request takes half a minute, and meets a workload that has changed meanwhile.
      world.nowMs += 30_000;
      web.resourceVersion++;
    };
    await world.sync();
    expect([seen.length, world.cluster.puts]).toEqual([1, []]);
    expect(await world.events()).toMatchObject([
      { outcome: "refused", detail: "not sent: the sync ran out of time" },
    ]);
  });
});
