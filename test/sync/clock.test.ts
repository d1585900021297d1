import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readHead } from "../../lib/stack/store/head/head.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const inNeed = async (): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  workloadOf(world, "web").demand = 5;
  return world;
};

/** Tables of a machine whose clock is ahead by so much, from the nth call on. */
const aheadFrom = (world: World, call: number, aheadMs: number): Tables => {
  let calls = 0;
  const skewMs = (): number => (calls >= call ? aheadMs : 0);
  const client = around(world.tables.client, async (_command, send) => {
    calls++;
    return send();
  });
  return {
    ...world.tables,
    client,
    clock: () => world.nowMs + skewMs(),
    serverClock: () =>
      calls === 0 ? undefined : { leastMs: skewMs() - 1_000, mostMs: skewMs() + 1_000 },
  };
};

const HOUR_MS = 3_600_000;

describe("a clock that is wrong", () => {
  it.each([5_000, -3_500, 20_000])(
    "by %d ms claims nothing: no lease, no time of it reaches the head",
    async (aheadMs) => {
      const world = await inNeed();
      expect(
        await world.sync(world.worker({ tables: aheadFrom(world, 0, aheadMs) })),
      ).toMatchObject({ kind: "dropped", why: "clock" });
      expect(await readHead(world.tables, world.partition)).toBeUndefined();
      expect(world.cluster.puts).toEqual([]);
      expect(await world.sync()).toMatchObject({
        kind: "completed",
        events: [{ outcome: "applied" }],
      });
    },
  );

  it("is compared again at the next claim, so that one that was put right works", async () => {
    const world = await inNeed();
    let aheadMs = 20_000;
    const tables: Tables = {
      ...world.tables,
      clock: () => world.nowMs + aheadMs,
      serverClock: () => ({ leastMs: aheadMs - 1_000, mostMs: aheadMs + 1_000 }),
    };
    expect(await world.sync(world.worker({ tables }))).toMatchObject({
      why: "clock",
      wrongByMs: 19_000,
    });
    aheadMs = 0;
    expect(await world.sync(world.worker({ tables }))).toMatchObject({ kind: "completed" });
  });

  it("inside a sync, at whatever call, stores nothing of its time and leads to no write that it had not begun", async () => {
    for (let call = 2; call < 14; call++) {
      const world = await inNeed();
      const before = world.nowMs;
      await world
        .sync(world.worker({ tables: aheadFrom(world, call, HOUR_MS) }))
        .catch((error: unknown) => expect(error).toMatchObject({ code: "store.clock-wrong" }));
      const head = await world.head();
      expect([head.nowMs <= before, head.evaluatedMs <= before]).toEqual([true, true]);
      if (head.intents.length === 0 && head.uncounted.length === 0 && head.nowMs === 0)
        expect(world.cluster.puts).toEqual([]);
    }
  });
});

/** A worker whose clock steps by so much as its first PUT is sent. */
const steppingAsItWrites = (world: World, byMs: number): SyncPorts => {
  let skewMs = 0;
  const tables: Tables = {
    ...world.tables,
    clock: () => world.nowMs + skewMs,
    serverClock: () => ({ leastMs: skewMs - 1_000, mostMs: skewMs + 1_000 }),
  };
  const { client } = world.cluster;
  const putScale: typeof client.putScale = (write, timeoutMs) => {
    skewMs = byMs;
    return client.putScale(write, timeoutMs);
  };
  return world.worker({ tables, connect: () => Promise.resolve({ ...client, putScale }) });
};

describe("a clock that steps while scales are written", () => {
  it.each([HOUR_MS, -HOUR_MS, 5_000])(
    "by %d ms sends nothing more, and no event carries its time",
    async (byMs) => {
      const world = await newWorld(engine.client, engine.tables, { web: 2, api: 2 });
      for (const name of ["web", "api"]) workloadOf(world, name).demand = 5;
      await expect(world.sync(steppingAsItWrites(world, byMs))).rejects.toMatchObject({
        code: "store.clock-wrong",
      });
      expect(world.cluster.puts).toHaveLength(1);
      expect(await world.events()).toEqual([]);
      world.nowMs += 4 * PERIOD_MS;
      await world.sync();
      // The scale that was not sent is refused once a second look agrees that the workload is
      // unmoved.
      expect((await world.events()).map(({ outcome, settledMs }) => [outcome, settledMs])).toEqual([
        ["applied", world.nowMs],
      ]);
      const firstLookMs = world.nowMs;
      world.nowMs += PERIOD_MS;
      await world.sync();
      const events = (await world.events()).filter(
        ({ atMs }) => atMs <= firstLookMs - 4 * PERIOD_MS,
      );
      expect(events.map(({ outcome, settledMs }) => [outcome, settledMs]).sort()).toEqual([
        ["applied", firstLookMs],
        ["refused", world.nowMs],
      ]);
      expect((await world.head()).nowMs).toBe(world.nowMs);
    },
  );
});

describe("a message from the future", () => {
  const due = (world: World, aheadMs: number) => ({
    ...world.partition,
    dueMs: world.nowMs + aheadMs,
    periodMs: PERIOD_MS,
  });

  it("is refused, so that the syncs that are due before it go on", async () => {
    const world = await inNeed();
    expect(await sync(world.worker(), due(world, HOUR_MS))).toMatchObject({
      kind: "dropped",
      why: "early",
    });
    expect(await readHead(world.tables, world.partition)).toBeUndefined();
    expect(await world.sync()).toMatchObject({ kind: "completed" });
    world.nowMs += PERIOD_MS;
    expect(await world.sync()).toMatchObject({ kind: "completed" });
  });

  it("by no more than clocks may differ is carried out", async () => {
    const world = await inNeed();
    expect(await sync(world.worker(), due(world, DEFAULT_TIMING.clockDifferenceMs))).toMatchObject({
      kind: "completed",
    });
    expect(
      await sync(world.worker(), due(world, DEFAULT_TIMING.clockDifferenceMs + 1)),
    ).toMatchObject({ why: "early" });
  });
});
