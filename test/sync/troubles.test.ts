import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  countOf,
  lasting,
  NO_TROUBLES,
  REMEMBERED_MAX,
  troublesOf,
  troublesText,
} from "../../lib/stack/store/head/troubles.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import { LASTING_MS } from "../../lib/rules/model/summary.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_MS = 60_000;
const syncs = async (world: World, count: number): Promise<void> => {
  for (let sync = 0; sync < count; sync++) {
    world.nowMs += PERIOD_MS;
    await world.sync();
  }
};
/** Every write is denied. */
const denied = (world: World): void => {
  Object.assign(world.cluster, { denial: 403 });
  for (let puts = 0; puts < 1_000; puts++) world.cluster.faults.push("denied");
};

describe("the troubles in the head", () => {
  it("are none while everything works", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2, api: 2 });
    await syncs(world, 3);
    expect((await world.head()).troubles).toEqual(NO_TROUBLES);
  });

  it("hold each refused autoscaler since its first refusal, and none once it scaled", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2, api: 2 });
    await syncs(world, 1);
    workloadOf(world, "web").demand = 5;
    denied(world);
    await syncs(world, 1);
    const sinceMs = world.nowMs;
    await syncs(world, 4);
    const { refused } = (await world.head()).troubles.of;
    expect(refused).toMatchObject({ first: "shop/web" });
    expect([...(refused?.since.values() ?? [])]).toEqual([
      Math.ceil(sinceMs / MINUTE_MS) * MINUTE_MS,
    ]);
    world.cluster.faults.length = 0;
    await syncs(world, 1);
    // For an hour it is remembered how long it was, and no longer that it is.
    const { refused: past } = (await world.head()).troubles.of;
    expect(past && [countOf(past), past.spells?.size]).toEqual([0, 1]);
    world.nowMs += 70 * MINUTE_MS;
    await syncs(world, 1);
    expect((await world.head()).troubles.of).toEqual({});
  });

  it("say since when the cluster cannot be read, and then count no metric as missing", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await syncs(world, 1);
    world.cluster.broken = true;
    await syncs(world, 1);
    const unreachableMs = world.nowMs;
    await syncs(world, 3);
    expect((await world.head()).troubles).toMatchObject({ unreachableMs, of: {} });
  });

  it("cost no write more", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await syncs(world, 1);
    world.cluster.broken = true;
    await syncs(world, 2);
    const { writeNumber } = await world.head();
    await syncs(world, 1);
    expect((await world.head()).writeNumber).toBe(writeNumber + 2);
  });

  it("are remembered one by one up to a limit, and counted together beyond it", async () => {
    const names = Array.from({ length: REMEMBERED_MAX + 40 }, (_, at) => [`w-${at}`, 2] as const);
    const world = await newWorld(engine.client, engine.tables, Object.fromEntries(names));
    await syncs(world, 1);
    for (const [name] of names) workloadOf(world, name).demand = 5;
    denied(world);
    await syncs(world, 2);
    const { refused } = (await world.head()).troubles.of;
    if (!refused) throw new TypeError("none is refused");
    expect(countOf(refused)).toBe(names.length);
    expect(lasting(refused, world.nowMs, LASTING_MS)).toBe(0);
    expect(lasting(refused, world.nowMs + MINUTE_MS, 0)).toBe(names.length);
  });
});

describe("the text of troubles", () => {
  it("is absent where there are none, so that a partition at rest stores nothing", () => {
    expect(troublesText(NO_TROUBLES)).toBeUndefined();
    expect(troublesOf(undefined)).toEqual(NO_TROUBLES);
  });

  it("keeps everything, and takes a kilobyte for 200 autoscalers that began together", () => {
    const since = new Map(
      Array.from({ length: 200 }, (_, at) => [`${at}`.padStart(4, "k"), 600_000] as const),
    );
    const troubles = {
      unreachableMs: 5,
      failingMs: 7,
      of: {
        refused: {
          since,
          first: "shop/web",
          more: { count: 3, sinceMs: 60_000 },
          owners: { shop: 4 },
        },
      },
    };
    const text = troublesText(troubles) ?? "";
    expect(troublesOf(text)).toEqual(troubles);
    expect(text.length).toBeLessThan(1_024);
  });

  it.each(["", "{", "[]", '{"of":{"refused":3}}'])(
    "counts as none where it cannot be read: %s",
    (text) => {
      expect(troublesOf(text)).toEqual(NO_TROUBLES);
    },
  );
});
