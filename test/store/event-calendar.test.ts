import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  type ClusterName,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import {
  decodeClosed,
  type EventCounts,
  encodeClosed,
  readCounts,
  storedCounts,
} from "../../lib/stack/store/history/event-counts.ts";
import { closedDays, closedMonths } from "../../lib/stack/store/history/event-calendar.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { eventsOfFleet } from "../../lib/stack/store/history/fleet-events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { utcDate } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { collected, testTables } from "../sync/world.ts";
import { closeDays } from "./close-days.ts";
import { event } from "./records.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

let clusters = 0;

/**
 * A cluster of its own that was added so many days ago, and the partition keys that are queried.
 */
const newCluster = async (addedAgoDays: number) => {
  const cluster = clusterName(`days-${++clusters}`);
  const asked: string[] = [];
  const client = around(engine.client, async (command, send, input) => {
    if (command === "QueryCommand")
      asked.push(
        (input as { readonly ExpressionAttributeValues: Record<string, { readonly S: string }> })
          .ExpressionAttributeValues[":pk"]?.S ?? "",
      );
    return send();
  });
  const tables = testTables(client, engine.tables, () => NOON);
  const insert = insertByStatement(tables);
  const atMs = NOON - addedAgoDays * DAY_MS;
  await insertScopeChange(insert, {
    id: "h",
    scope: "cluster",
    name: cluster,
    verb: "add",
    version: 1,
    atMs,
    by: "ada",
  });
  return { cluster, tables, insert, asked };
};

let events = 0;
const eventOf = (
  cluster: ClusterName,
  atMs: number,
  parts: Partial<ScaleEventRecord> = {},
): ScaleEventRecord =>
  event({
    cluster,
    atMs,
    settledMs: atMs,
    id: `uid-web:${++events}`,
    uid: autoscalerUid("uid-web"),
    ...parts,
  });

const listed = (tables: Tables, cluster: ClusterName, sinceMs: number) =>
  collected(eventsOfFleet(tables, [cluster], { sinceMs, untilMs: NOON }));

describe("closed days", () => {
  it("without an event are never asked for, and a month of them is one request", async () => {
    const { cluster, tables, insert, asked } = await newCluster(100);
    const stored = [80, 40.25, 40.125, 1].map((daysAgo) =>
      eventOf(cluster, NOON - daysAgo * DAY_MS),
    );
    await insertEvents(insert, stored);
    for (let call = 0; (await closeDays(tables, insert, cluster, NOON)).length > 0; )
      expect(++call).toBeLessThanOrEqual(3);
    asked.length = 0;
    expect(await listed(tables, cluster, NOON - 100 * DAY_MS)).toEqual(stored);
    // Of the last days each is asked for: an event of them may still come.
    const days = [80, 40, 2, 1, 0].map(
      (daysAgo) => `day#${cluster}#${utcDate(NOON - daysAgo * DAY_MS)}`,
    );
    expect(new Set(asked)).toEqual(new Set([`months#${cluster}`, `days#${cluster}`, ...days]));
  });

  it("of a whole month are closed as a month, which says on which days its events were", async () => {
    const { cluster, tables, insert, asked } = await newCluster(100);
    const [older, newer] = [80, 40].map((daysAgo) =>
      eventOf(cluster, NOON - daysAgo * DAY_MS, { from: 2, to: 5 }),
    );
    if (!older || !newer) throw new Error("there are no events");
    await insertEvents(insert, [older]);
    await insertEvents(insert, [newer]);
    while ((await closeDays(tables, insert, cluster, NOON)).length > 0);
    const months = await closedMonths(tables, cluster, { sinceMs: 0, untilMs: NOON });
    const up = { ups: 1, added: 3, downs: 0, removed: 0, refused: 0, outside: 0 };
    expect([...months]).toEqual([
      ["2025-11", { days: new Map(), counts: new Map(), added: "2025-11-21" }],
      ["2025-12", { days: new Map([["2025-12-11", 1]]), counts: new Map([["shop/web", up]]) }],
      ["2026-01", { days: new Map([["2026-01-20", 1]]), counts: new Map([["shop/web", up]]) }],
    ]);
    asked.length = 0;
    expect(
      await collected(
        eventsOfFleet(tables, [cluster], { sinceMs: 0, untilMs: Date.parse("2026-01-31") }),
      ),
    ).toEqual([older, newer]);
    expect(asked).toEqual([
      `months#${cluster}`,
      `day#${cluster}#2025-12-11`,
      `day#${cluster}#2026-01-20`,
    ]);
    // An event that comes late opens its month again.
    const late = eventOf(cluster, NOON - 79 * DAY_MS, { settledMs: NOON });
    await insertEvents(insert, [late]);
    expect([
      ...(await closedMonths(tables, cluster, { sinceMs: 0, untilMs: NOON })).keys(),
    ]).toEqual(["2025-11", "2026-01"]);
    expect(await listed(tables, cluster, NOON - 100 * DAY_MS)).toEqual([older, late, newer]);
  });

  it("have the counts of each autoscaler, by direction and outcome", async () => {
    const { cluster, tables, insert } = await newCluster(30);
    const atMs = NOON - 10 * DAY_MS;
    const api = { name: autoscalerName("api"), namespace: namespace("lab") };
    await insertEvents(insert, [
      eventOf(cluster, atMs, { from: 2, to: 5 }),
      eventOf(cluster, atMs + 1, { from: 5, to: 6, outcome: "unknown" }),
      eventOf(cluster, atMs + 2, { from: 6, to: 1 }),
      eventOf(cluster, atMs + 3, { from: 1, to: 9, outcome: "refused" }),
      eventOf(cluster, atMs + 4, { from: 4, to: 2, ...api }),
    ]);
    await insertEvents(insert, [
      { ...eventOf(cluster, atMs + 5), ...api, outcome: "outside" as const },
    ]);
    expect(await closeDays(tables, insert, cluster, NOON)).toHaveLength(28);
    const closed = await closedDays(tables, cluster, { sinceMs: atMs - DAY_MS, untilMs: atMs });
    expect([...closed].map(([day, counts]) => [day, Object.fromEntries(counts)])).toEqual([
      [utcDate(atMs - DAY_MS), {}],
      [
        utcDate(atMs),
        {
          "shop/web": { ups: 2, added: 4, downs: 1, removed: 5, refused: 1, outside: 0 },
          "lab/api": { ups: 0, added: 0, downs: 1, removed: 2, refused: 0, outside: 1 },
        },
      ],
    ]);
    expect(await closeDays(tables, insert, cluster, NOON)).toEqual([]);
  });

  it("are asked for again after an event that came late, as of a cluster that was not synced for a week", async () => {
    const { cluster, tables, insert } = await newCluster(30);
    await closeDays(tables, insert, cluster, NOON);
    const late = eventOf(cluster, NOON - 9 * DAY_MS, { settledMs: NOON });
    // A sync died between the two items of this one: the next one stores what it finds, with the
    // time of then.
    const half = eventOf(cluster, NOON - 8 * DAY_MS);
    await insertEvents(insert, [late]);
    await insertEvents(insert, [half], NOON);
    expect(await listed(tables, cluster, NOON - 30 * DAY_MS)).toEqual([late, half]);
  });

  it("count only what can be read: damage and later versions are no empty day", () => {
    const decodeDay = (body: Uint8Array | string) => decodeClosed(body, readCounts);
    const one: EventCounts = { ups: 1, added: 2, downs: 3, removed: 4, refused: 5, outside: 6 };
    const body = encodeClosed(storedCounts(new Map([["shop/web", one]])));
    expect(decodeDay(body)).toEqual(new Map([["shop/web", one]]));
    expect(decodeDay(encodeClosed(storedCounts(new Map())))).toEqual(new Map());
    expect(decodeDay("late")).toBeUndefined();
    expect(decodeDay(Buffer.concat([Buffer.of(0x82), body.subarray(1)]))).toBeUndefined();
    for (let length = 0; length < body.length; length++)
      expect(decodeDay(body.subarray(0, length))).toBeUndefined();
  });

  it("never hide an event, however events and closings follow each other", async () => {
    const day = fc.integer({ min: 0, max: 60 });
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("event" as const),
        agoDays: day,
        settledLaterDays: fc.constantFrom(0, 0, 0, 1, 2, 3, 20),
      }),
      fc.record({ kind: fc.constant("close" as const), agoDays: day }),
    );
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 4, max: 60 }),
      async (steps, sinceDays) => {
        const { cluster, tables, insert } = await newCluster(61);
        // In the order in which they happen: an event is inserted when it is settled.
        const timed = steps.map((one) => ({
          ...one,
          whenMs: NOON - (one.agoDays - (one.kind === "event" ? one.settledLaterDays : 0)) * DAY_MS,
        }));
        const stored: ScaleEventRecord[] = [];
        for (const one of timed.toSorted((a, b) => a.whenMs - b.whenMs)) {
          if (one.whenMs > NOON) continue;
          if (one.kind === "close") await closeDays(tables, insert, cluster, one.whenMs);
          else {
            const settled = eventOf(cluster, NOON - one.agoDays * DAY_MS, {
              settledMs: one.whenMs,
            });
            stored.push(settled);
            await insertEvents(insert, [settled]);
          }
        }
        const sinceMs = NOON - sinceDays * DAY_MS;
        const wanted = stored.filter(({ atMs }) => atMs >= sinceMs).map(({ id }) => id);
        expect((await listed(tables, cluster, sinceMs)).map(({ id }) => id).toSorted()).toEqual(
          wanted.toSorted(),
        );
      },
    );
    await fc.assert(property, runs(15));
  });
});
