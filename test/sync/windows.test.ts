import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { decodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { StoredWindows } from "../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const next = async (world: World, ports?: SyncPorts) => {
  world.nowMs += PERIOD_MS;
  return world.sync(ports);
};

const entryOf = async (world: World, uid: string): Promise<StoredWindows | undefined> => {
  const { pages, pageGeneration } = await world.head();
  for (const index of pages.keys()) {
    const item = await readPage(world.tables, {
      partition: world.partition,
      generation: pageGeneration,
      index,
    });
    const page = item && decodePage(item.body);
    const entry = page?.kind === "read" ? page.entries.get(autoscalerUid(uid)) : undefined;
    if (entry) return entry;
  }
  return undefined;
};

const runs = async (world: World) =>
  (await entryOf(world, "uid-web"))?.windows.memory.recommendations?.map(
    ({ replicas, firstMs, lastMs }) => [replicas, firstMs - NOON, lastMs - NOON],
  );

/** Counts the calls to the tables by command. */
const counting = (world: World) => {
  const calls: Record<string, number> = {};
  const client = around(engine.client, (command, send) => {
    calls[command] = (calls[command] ?? 0) + 1;
    return send();
  });
  return { calls, tables: { ...world.tables, client } };
};

describe("steady state", () => {
  it.each([1, 40, 250])(
    "of %d autoscalers costs two writes a sync, and one batch of journal pages and a summary a minute",
    async (autoscalers) => {
      const world = await newWorld(
        engine.client,
        engine.tables,
        Object.fromEntries(Array.from({ length: autoscalers }, (_, at) => [`app-${at}`, 3])),
      );
      const { calls, tables } = counting(world);
      const warm = world.worker({ tables });
      for (let periods = 0; periods < 8; periods++) await next(world, warm);
      for (const command of Object.keys(calls)) calls[command] = 0;
      for (let periods = 0; periods < 8; periods++) await next(world, warm);
      // 8 syncs are two minutes: 16 updates of the head, and one batch of inserts a minute for all
      // journal pages, and one summary. Reads: fleet and cluster per sync.
      expect(calls).toMatchObject({
        UpdateItemCommand: 16,
        BatchExecuteStatementCommand: 2,
        GetItemCommand: 16,
      });
      expect(calls["PutItemCommand"]).toBe(2);
      expect(calls["QueryCommand"] ?? 0).toBeLessThanOrEqual(2 * Math.ceil(autoscalers / 50));
    },
  );
});

describe("a recommendation run", () => {
  it("goes on without a write, and reaches to the last completed sync", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    for (let periods = 0; periods < 3; periods++)
      expect(await next(world)).toMatchObject({ pagesWritten: 0 });
    expect(await runs(world)).toEqual([[2, 0, 0]]);
    expect(await entryOf(world, "uid-web")).toMatchObject({ open: true });
    workloadOf(world, "web").demand = 4;
    await next(world);
    expect(await runs(world)).toEqual([
      [2, 0, 3 * PERIOD_MS],
      [4, 4 * PERIOD_MS, 4 * PERIOD_MS],
    ]);
  });

  it("ends at the last sync that extended it when its autoscaler is not evaluated", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    await next(world);
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "broken" }, 1);
    await raiseSpecVersion(world.tables, world.partition);
    expect(await next(world)).toMatchObject({ pagesWritten: 1 });
    expect(await entryOf(world, "uid-web")).toMatchObject({ open: false });
    expect(await runs(world)).toEqual([[2, 0, PERIOD_MS]]);
    expect(await next(world)).toMatchObject({ pagesWritten: 0 });
    expect(await runs(world)).toEqual([[2, 0, PERIOD_MS]]);
  });

  it("ends when its metrics fail", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    await next(world);
    world.cluster.broken = true;
    expect(await next(world)).toMatchObject({ failed: 1, pagesWritten: 1 });
    expect(await runs(world)).toEqual([[2, 0, PERIOD_MS]]);
  });

  it("of a sync that scaled and died counts from when it was made, so that no stabilization window is cut short", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    world.nowMs += PERIOD_MS;
    const peakMs = world.nowMs;
    workloadOf(world, "web").demand = 9;
    const dying = world.worker({ insert: () => Promise.reject(new Error("died")) });
    await expect(world.sync(dying)).rejects.toThrow("died");
    expect(workloadOf(world, "web").replicas).toBe(9);
    workloadOf(world, "web").demand = 3;
    for (let periods = 0; periods < 3; periods++) await next(world);
    expect(await runs(world)).toContainEqual([9, peakMs - NOON, peakMs - NOON]);
    expect(await next(world)).toMatchObject({ events: [] });
    expect(workloadOf(world, "web").replicas).toBe(9);
    expect(await next(world)).toMatchObject({ events: [] });
    await next(world);
    expect(workloadOf(world, "web").replicas).toBe(3);
  });
});

describe("windows of a scale that is settled late", () => {
  it("take it, with the run before it ended where it was last extended", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    world.nowMs += PERIOD_MS;
    workloadOf(world, "web").demand = 5;
    world.cluster.faults.push("lost answer");
    await world.sync();
    workloadOf(world, "web").demand = 6;
    await next(world);
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "broken" }, 1);
    await raiseSpecVersion(world.tables, world.partition);
    await next(world);
    expect(await next(world)).toMatchObject({
      evaluated: 0,
      events: [{ outcome: "applied" }],
      pagesWritten: 1,
    });
    expect(await runs(world)).toEqual([
      [2, 0, 0],
      [5, PERIOD_MS, PERIOD_MS],
      [6, 2 * PERIOD_MS, 2 * PERIOD_MS],
    ]);
    expect(await entryOf(world, "uid-web")).toMatchObject({
      open: false,
      windows: { memory: { scaleUps: [{ change: 3, eventId: "uid-web:2" }] } },
    });
  });
});

describe("time", () => {
  it("never runs backwards in the record, whatever the clock of a worker says", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    const { nowMs } = await world.head();
    workloadOf(world, "web").demand = 5;
    const slow = { ...world.tables, clock: () => NOON - 2_000 };
    const { sync } = await import("../../lib/stack/sync/sync.ts");
    await sync(world.worker({ tables: slow }), {
      ...world.partition,
      dueMs: NOON + 1_000,
      periodMs: PERIOD_MS,
    });
    expect(await world.head()).toMatchObject({ nowMs, evaluatedMs: nowMs });
    expect(await world.events()).toMatchObject([{ atMs: nowMs, settledMs: nowMs }]);
  });
});

describe("pages", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`app-${at}`, 3]));

  it("divide when autoscalers come, join when they go, and lose no window on the way", async () => {
    const world = await newWorld(engine.client, engine.tables, many(100), {
      timing: { pageEntries: 100 },
    });
    workloadOf(world, "app-7").demand = 8;
    await world.sync();
    expect(await world.head()).toMatchObject({ pageGeneration: 1, pages: [1] });
    const seven = (await entryOf(world, "uid-app-7"))?.windows;
    for (let at = 100; at < 260; at++) {
      world.cluster.workloads.set(`app-${at}`, {
        uid: `u${at}`,
        replicas: 3,
        demand: 3,
        resourceVersion: 1,
        generation: 1,
      });
      await putAutoscaler(world.tables, world.autoscaler(`app-${at}`), undefined);
    }
    await raiseSpecVersion(world.tables, world.partition);
    workloadOf(world, "app-7").demand = 3;
    expect(await next(world)).toMatchObject({ autoscalers: 260, pagesWritten: 3 });
    expect(await world.head()).toMatchObject({ pageGeneration: 2, pages: [2, 2, 2] });
    expect((await entryOf(world, "uid-app-7"))?.windows.memory.scaleUps).toEqual(
      seven?.memory.scaleUps,
    );
    expect(
      await readPage(world.tables, { partition: world.partition, generation: 1, index: 0 }),
    ).toBeUndefined();
    const { deleteAutoscaler } = await import("../../lib/stack/store/records/autoscalers.ts");
    for (let at = 30; at < 260; at++)
      await deleteAutoscaler(world.tables, world.autoscaler(`app-${at}`), 1);
    await raiseSpecVersion(world.tables, world.partition);
    expect(await next(world)).toMatchObject({ autoscalers: 30, pagesWritten: 1 });
    expect(await world.head()).toMatchObject({ pageGeneration: 3, pages: [3] });
    expect((await entryOf(world, "uid-app-7"))?.windows.memory.scaleUps).toEqual(
      seven?.memory.scaleUps,
    );
    expect(await entryOf(world, "uid-app-100")).toBeUndefined();
  });

  it("are all written after a sync that died, and memory of before is not trusted", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    const warm = world.worker();
    await world.sync(warm);
    workloadOf(world, "web").demand = 5;
    world.nowMs += PERIOD_MS;
    const release = world.worker({
      tables: {
        ...world.tables,
        client: around(engine.client, (command, send) =>
          command === "UpdateItemCommand" && ++updates > 2
            ? Promise.reject(new Error("died"))
            : send(),
        ),
      },
    });
    let updates = 0;
    await expect(world.sync(release)).rejects.toThrow();
    world.nowMs += 2 * PERIOD_MS;
    expect(await next(world, warm)).toMatchObject({
      epoch: 3,
      pagesWritten: 1,
      events: [{ id: "uid-web:2" }],
    });
    expect(await world.head()).toMatchObject({ pages: [3], releasedEpoch: 3 });
    expect((await entryOf(world, "uid-web"))?.windows.memory.scaleUps).toMatchObject([
      { change: 3, eventId: "uid-web:2" },
    ]);
  });

  it("are read, not written, by an environment that starts cold after a clean release", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await world.sync();
    expect(await next(world)).toMatchObject({ pagesWritten: 0 });
  });
});

describe("the same inputs", () => {
  it("give the same events, heads and pages, whichever environment runs which sync", async () => {
    const stories = await Promise.all(
      [true, false].map(async (warmed) => {
        const own = await startMemory();
        const world = await newWorld(own.client, own.tables, { web: 2, api: 3 });
        const warm = warmed ? world.worker() : undefined;
        for (const demand of [2, 5, 5, 4, 9, 1, 1, 1, 1, 1, 1]) {
          workloadOf(world, "web").demand = demand;
          if (demand === 9) world.cluster.faults.push("lost answer");
          await next(world, warm);
        }
        const { pages, pageGeneration, token, ...head } = await world.head();
        const bodies = await Promise.all(
          pages.map((_, index) =>
            readPage(world.tables, {
              partition: world.partition,
              generation: pageGeneration,
              index,
            }),
          ),
        );
        const events = (await world.events()).map(({ cluster, ...event }) => event);
        return JSON.stringify([head, pages, bodies, events]);
      }),
    );
    expect(stories[0]).toBe(stories[1]);
  });
});
