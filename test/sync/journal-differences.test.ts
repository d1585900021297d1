import { QueryCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BASE_MS_MAX,
  journalItem,
  journalOfPage,
  baseOf,
} from "../../lib/stack/store/history/journal.ts";
import { journalPk } from "../../lib/stack/store/table/keys.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";
import type { JournalPage } from "../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_MS = 60_000;
const AUTOSCALERS = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`app-${at}`, 3]));

/** Syncs once a minute in one environment. */
const minutes = async (
  world: World,
  worker: ReturnType<World["worker"]>,
  count: number,
): Promise<void> => {
  for (let minute = 0; minute < count; minute++) {
    world.nowMs += MINUTE_MS;
    await world.sync(worker);
  }
};

/** The bodies of the journal as they are stored, in order of time. */
const storedBodies = async ({ tables, partition }: World): Promise<readonly Uint8Array[]> => {
  const { Items = [] } = await engine.client.send(
    new QueryCommand({
      TableName: tables.historyTable,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: journalPk(partition) } },
    }),
  );
  return Items.map(({ body }) => body?.B ?? new Uint8Array());
};

const readBack = async (
  { tables, partition, nowMs }: World,
  newestFirst: boolean,
): Promise<readonly JournalPage[]> => {
  const pages: JournalPage[] = [];
  for await (const page of journalOfPage(tables, partition, {
    page: 0,
    sinceMs: 0,
    untilMs: nowMs,
    newestFirst,
  }))
    pages.push(page);
  return pages;
};

describe("the journal of one environment", () => {
  it("stores a page as its difference from an earlier one, a third as large at most, and reads it back whole", async () => {
    const world = await newWorld(engine.client, engine.tables, AUTOSCALERS);
    await minutes(world, world.worker(), 6);
    const bodies = await storedBodies(world);
    expect(bodies.map((body) => baseOf(body) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
    const [whole, ...differences] = bodies.map(({ length }) => length);
    for (const bytes of differences) expect(bytes).toBeLessThan((whole ?? 0) / 3);
    const pages = await readBack(world, false);
    expect(pages.map(({ atMs }) => atMs)).toEqual(
      Array.from({ length: 6 }, (_, at) => world.nowMs - (5 - at) * MINUTE_MS),
    );
    for (const { evaluations } of pages)
      expect(evaluations.map(({ name }) => name).toSorted()).toEqual(
        Object.keys(AUTOSCALERS).toSorted(),
      );
    expect((await readBack(world, true)).toReversed()).toEqual(pages);
  });

  it("begins anew after an hour, and where another environment begins", async () => {
    const world = await newWorld(engine.client, engine.tables, AUTOSCALERS);
    const first = world.worker();
    await minutes(world, first, 3);
    world.nowMs += BASE_MS_MAX;
    await minutes(world, first, 2);
    await minutes(world, world.worker(), 2);
    expect((await storedBodies(world)).map((body) => baseOf(body) !== undefined)).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(await readBack(world, true)).toHaveLength(7);
  });

  it("tells a single change as a difference too", async () => {
    const world = await newWorld(engine.client, engine.tables, AUTOSCALERS);
    const worker = world.worker();
    await minutes(world, worker, 3);
    const workload = world.cluster.workloads.get("app-3");
    if (workload) workload.demand = 9;
    world.nowMs += PERIOD_MS;
    await world.sync(worker);
    const newest = (await readBack(world, true))[0];
    expect([newest?.partial, newest?.evaluations.map(({ name, to }) => [name, to])]).toEqual([
      true,
      [["app-3", 9]],
    ]);
    expect((await storedBodies(world)).at(-1)?.length).toBeLessThan(300);
  });
});

describe("a reader of the journal", () => {
  it("passes over a page whose base is gone, or is not the one that it was told from", async () => {
    const world = await newWorld(engine.client, engine.tables, AUTOSCALERS);
    await minutes(world, world.worker(), 1);
    const [page] = await readBack(world, true);
    const [body] = await storedBodies(world);
    if (!page || !body) throw new Error("the sync has stored a page");
    const later = { ...page, atMs: page.atMs + MINUTE_MS };
    const insert = world.worker().insert;
    await insert([
      journalItem(world.partition, later, { atMs: page.atMs - 1, epoch: page.epoch, body }),
    ]);
    world.nowMs += MINUTE_MS;
    expect(await readBack(world, true)).toEqual([page]);
  });
});
