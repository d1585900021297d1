import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import { closeDays } from "../../lib/stack/store/history/event-calendar.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { eventsOfFleet } from "../../lib/stack/store/history/fleet-events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";
import { event } from "./records.ts";
import { REQUESTS_AT_ONCE } from "../../lib/stack/store/table/wait-for-all.ts";
import type { EventRecord } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const SINCE = NOON - 60 * DAY_MS;
let fleets = 0;

interface Burst {
  readonly agoMs: number;
  readonly count: number;
  readonly spacingMs: number;
  readonly of: number;
}

/** Three clusters with bursts of events, and what their queries were asked with. */
const newFleet = async (bursts: readonly Burst[], closes: boolean) => {
  const fleet = ++fleets;
  const clusters = ["a", "b", "c"].map((name) => clusterName(`fleet-${fleet}-${name}`));
  let inFlight = 0;
  const seen = { most: 0, largest: 0 };
  const client = around(engine.client, async (command, send, input) => {
    inFlight++;
    seen.most = Math.max(seen.most, inFlight);
    const answer = await send().finally(() => inFlight--);
    const { Limit = 0 } = input as { readonly Limit?: number };
    if (command === "QueryCommand") seen.largest = Math.max(seen.largest, Limit);
    return answer;
  });
  const tables = testTables(client, engine.tables, () => NOON);
  const insert = insertByStatement(tables);
  let id = 0;
  const stored = bursts.flatMap(({ agoMs, count, spacingMs, of }) =>
    Array.from({ length: count }, (_, at) => NOON - agoMs + at * spacingMs)
      .filter((atMs) => atMs <= NOON)
      .map((atMs) =>
        event({
          cluster: clusters[of] ?? clusterName("none"),
          id: `uid-web:${++id}`,
          uid: autoscalerUid("uid-web"),
          atMs,
          settledMs: atMs,
        }),
      ),
  );
  for (const day of Map.groupBy(stored, ({ atMs }) => Math.floor(atMs / DAY_MS)).values())
    await insertEvents(insert, day);
  if (closes)
    for (const cluster of clusters)
      while ((await closeDays(tables, insert, cluster, NOON)).length > 0);
  return { tables, clusters, stored, seen };
};

const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const order = (one: EventRecord, other: EventRecord): number =>
  one.atMs - other.atMs || inOrder(one.cluster, other.cluster) || inOrder(one.id, other.id);

const burst = fc.record({
  agoMs: fc.oneof(fc.nat({ max: 60 * DAY_MS }), fc.nat({ max: 3 * DAY_MS })),
  count: fc.constantFrom(1, 3, 40, 400),
  spacingMs: fc.constantFrom(0, 1, 1_000, 86_400),
  of: fc.nat({ max: 2 }),
});

describe("the events of a fleet", () => {
  it("are always complete and in order, however dense they are and wherever a search stops", async () => {
    const property = fc.asyncProperty(
      fc.array(burst, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 6 }),
      async (bursts, closes, inRowMax) => {
        const { tables, clusters, stored, seen } = await newFleet(bursts, closes);
        const listed: EventRecord[] = [];
        let parts = 0;
        let next: { readonly fromMs: number; readonly after: EventRecord | undefined } | undefined =
          { fromMs: SINCE, after: undefined };
        while (next) {
          expect(++parts, "parts of a list").toBeLessThan(5_000);
          const { fromMs, after }: NonNullable<typeof next> = next;
          next = undefined;
          const search = {
            isTold: (one: EventRecord) => after !== undefined && order(one, after) <= 0,
            stops: (inRow: number) => inRow > inRowMax,
            onStop: (atMs: number, last: EventRecord | undefined) => {
              next = { fromMs: atMs, after: last };
            },
          };
          for await (const one of eventsOfFleet(
            tables,
            clusters,
            { sinceMs: fromMs, untilMs: NOON },
            search,
          ))
            listed.push(one);
        }
        expect(listed.map(({ id }) => id)).toEqual(
          stored
            .filter(({ atMs }) => atMs >= SINCE)
            .sort(order)
            .map(({ id }) => id),
        );
        expect(seen.most).toBeLessThanOrEqual(REQUESTS_AT_ONCE);
        expect(seen.largest).toBeLessThanOrEqual(1_000);
      },
    );
    await fc.assert(property, runs(8));
  }, 120_000);
});
