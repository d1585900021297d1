import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bytesOf,
  HEAD_ENTRIES_BYTES_MAX,
  intentBodies,
} from "../../lib/stack/store/head/intent-codec.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import { itemKey, pageKey } from "../../lib/stack/store/table/keys.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const named = (count: number) =>
  Array.from({ length: count }, (_, at) => `app-${String(at).padStart(4, "0")}`);

/** As many workloads, all of which want another count. */
const burst = async (count: number, scalesPerWave: number, rateWindowMs = 0): Promise<World> => {
  const names = Object.fromEntries(named(count).map((name) => [name, 4]));
  const world = await newWorld(engine.client, engine.tables, names, {
    timing: { scalesPerWave },
    rateWindowMs,
  });
  for (const name of named(count)) workloadOf(world, name).demand = 9;
  return world;
};

/** Ports whose head is looked at after each of its updates. */
const watched = (
  world: World,
  onHead: (size: {
    readonly open: number;
    readonly uncounted: number;
    readonly bytes: number;
  }) => void,
) =>
  world.worker({
    tables: {
      ...world.tables,
      client: around(engine.client, async (command, send) => {
        const answer = await send();
        if (command !== "UpdateItemCommand") return answer;
        const head = await world.head();
        onHead({
          open: head.intents.length,
          uncounted: head.uncounted.length,
          bytes: bytesOf(intentBodies(head)),
        });
        return answer;
      }),
    },
  });

const next = async (world: World, periods = 1, ports = world.worker()) => {
  world.nowMs += periods * PERIOD_MS;
  return world.sync(ports);
};

describe("a burst", () => {
  it("is made in one sync, in as many waves as it takes", async () => {
    const world = await burst(1_200, 500);
    const updates: (readonly [open: number, uncounted: number])[] = [];
    const report = await world.sync(
      watched(world, ({ open, uncounted }) => updates.push([open, uncounted])),
    );
    expect(report).toMatchObject({ kind: "completed", openIntents: 0 });
    expect(world.cluster.puts).toHaveLength(1_200);
    expect(await world.events()).toHaveLength(1_200);
    // Claim, four waves, of which the first finds out how fast the cluster is, and the release.
    expect(updates).toEqual([
      [0, 0],
      [100, 0],
      [500, 100],
      [500, 600],
      [100, 1_100],
      [0, 0],
    ]);
  }, 60_000);

  it("never fills the head beyond its room, however many scales one sync makes", async () => {
    const world = await burst(6_000, 2_000);
    let most = 0;
    const report = await world.sync(
      watched(world, ({ bytes }) => {
        most = Math.max(most, bytes);
      }),
    );
    expect(report).toMatchObject({ kind: "completed", openIntents: 0 });
    expect(most).toBeGreaterThan(HEAD_ENTRIES_BYTES_MAX / 2);
    expect(most).toBeLessThanOrEqual(HEAD_ENTRIES_BYTES_MAX);
    await next(world);
    expect(new Set(world.cluster.puts.map(({ key }) => key)).size).toBe(6_000);
    expect(world.cluster.puts).toHaveLength(6_000);
  }, 120_000);

  it("ends when the time of the sync does: no intent is stored for which none is left, and what waits says so", async () => {
    const world = await burst(400, 50);
    world.cluster.beforePut = () => {
      world.nowMs += 50;
    };
    const report = await world.sync();
    const made = world.cluster.puts.length;
    expect(made).toBeGreaterThan(150);
    expect(made).toBeLessThanOrEqual(200);
    expect(report).toMatchObject({
      kind: "completed",
      openIntents: 0,
      events: expect.toSatisfy((all) => all.length === made),
    });
    const pages = await Promise.all(
      (await world.head()).pages.map((_, page) =>
        newestJournalPage(world.tables, world.partition, page, world.nowMs),
      ),
    );
    const waiting = pages
      .flatMap((page) => page?.evaluations ?? [])
      .filter(({ because }) => because.reason === "TooManyScales");
    expect(waiting).toHaveLength(400 - made);
    expect(waiting[0]?.because.message).toBe(
      `this sync had time for ${made} scales of the partition; this scale waits for the next sync`,
    );
    world.cluster.beforePut = () => {};
    world.nowMs -= world.nowMs % PERIOD_MS;
    await next(world);
    expect(world.cluster.puts).toHaveLength(400);
  }, 60_000);

  it("makes those first that add the most capacity", async () => {
    const world = await burst(30, 10);
    for (const name of named(30).slice(0, 20)) workloadOf(world, name).demand = 1;
    await world.sync();
    expect(world.cluster.puts.slice(0, 10).map(({ replicas }) => replicas)).toEqual(
      Array.from({ length: 10 }, () => 9),
    );
  });
});

describe("a sync that fails between two waves", () => {
  /** Six workloads in waves of two; history refuses the fourth event and all that come later. */
  const failed = async ({ restFirst = false, putMs = 0 } = {}) => {
    const world = await burst(6, 2, 6 * PERIOD_MS);
    world.cluster.beforePut = () => {
      world.nowMs += putMs;
    };
    if (restFirst) {
      for (const name of named(6)) workloadOf(world, name).demand = 4;
      await world.sync();
      for (const name of named(6)) workloadOf(world, name).demand = 9;
      world.nowMs += PERIOD_MS;
    }
    const insert = insertByStatement(world.tables);
    let events = 0;
    const ports = world.worker({
      insert: (items) => {
        events += items.filter(({ sk }) => sk.startsWith("event#")).length;
        if (events > 3) throw new Error("history cannot be written");
        return insert(items);
      },
    });
    await expect(world.sync(ports)).rejects.toThrow("history cannot be written");
    return world;
  };

  it("has begun no later wave, and keeps the scales of the earlier ones in the head, apart from those that are open", async () => {
    const world = await failed();
    expect(world.cluster.puts).toHaveLength(4);
    const head = await world.head();
    expect(head.uncounted).toMatchObject([
      { id: "uid-app-0000:1", from: 4, to: 9, outcome: "applied", recommendation: 9 },
      { id: "uid-app-0001:1", from: 4, to: 9, outcome: "applied", recommendation: 9 },
    ]);
    expect(head.intents.map(({ name }) => name)).toEqual(["app-0002", "app-0003"]);
  });

  it("is followed by one that counts them at once, tells of them, and holds them meanwhile", async () => {
    const world = await failed();
    const report = await next(world);
    expect(report).toMatchObject({ kind: "completed", openIntents: 2 });
    const told = report.kind === "completed" ? report.events.map(({ id }) => id) : [];
    expect(told.toSorted()).toEqual([
      "uid-app-0000:1",
      "uid-app-0001:1",
      "uid-app-0004:2",
      "uid-app-0005:2",
    ]);
    expect((await world.head()).uncounted).toEqual([]);
    const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
    expect(page?.evaluations.find(({ name }) => name === "app-0000")?.because).toEqual({
      reason: "ScaleSettled",
      message:
        "this sync settled the scale from 4 to 9 of an earlier sync, and the next one decides again",
    });
  });

  it("is followed by one that is not before its scales, though its clock is an hour late", async () => {
    const world = await failed({ putMs: 500 });
    const settledMs = Math.max(...(await world.head()).uncounted.map((scale) => scale.settledMs));
    expect((await world.head()).nowMs).toBeLessThan(settledMs);
    world.nowMs -= 3_600_000;
    await world.sync();
    expect((await world.head()).nowMs).toBeGreaterThanOrEqual(settledMs);
  });

  it("leaves no limit behind: the scales of its waves are in the windows of all that follow", async () => {
    const world = await failed();
    await next(world);
    for (const name of named(6)) workloadOf(world, name).demand = 12;
    const before = world.cluster.puts.length;
    await next(world);
    expect(world.cluster.puts).toHaveLength(before);
    // What was open was settled in the sync before, and counts from there.
    for (let periods = 0; periods < 2; periods++) await next(world, 6);
    expect(named(6).map((name) => workloadOf(world, name).replicas)).toEqual([
      12, 12, 12, 12, 12, 12,
    ]);
    const events = await world.events();
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it("is followed by one that keeps them in the head while their page cannot be read, and counts them once it can", async () => {
    const world = await failed({ restFirst: true });
    const { pages, pageGeneration } = await world.head();
    const place = { partition: world.partition, generation: pageGeneration, index: 0 };
    const key = {
      ...itemKey(pageKey(world.partition, pageGeneration, 0)),
      epoch: { N: String(pages[0]) },
    };
    const whole = await readPage(world.tables, place);
    await engine.client.send(
      new PutItemCommand({ TableName: "state", Item: { ...key, body: { B: compress(77, []) } } }),
    );
    expect(await next(world)).toMatchObject({ openIntents: 4, events: [] });
    expect((await world.head()).uncounted).toHaveLength(2);
    const epoch = { N: String((await world.head()).pages[0]) };
    await engine.client.send(
      new PutItemCommand({
        TableName: "state",
        Item: { ...key, epoch, body: { B: whole?.body ?? new Uint8Array() } },
      }),
    );
    expect(await next(world)).toMatchObject({
      events: expect.toSatisfy((all: readonly { id: string }[]) =>
        all.some(({ id }) => id === "uid-app-0000:2"),
      ),
    });
    expect((await world.head()).uncounted).toEqual([]);
  });
});
