import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import { closeDays } from "./close-days.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { eventsOfFleet } from "../../lib/stack/store/history/fleet-events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around, withFaults } from "../contracts/faults.ts";
import { memoryEngine } from "../contracts/memory-engine.ts";
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

const THROTTLED_EVERY = 7;
/** A burst of all three clusters at the same instants. */
const ALL = 3;

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
  let calls = 0;
  // The table throttles a request now and then, which is sent again.
  const throttling = withFaults(engine.client, (command) =>
    command === "QueryCommand" && ++calls % THROTTLED_EVERY === 0 ? "throttled" : undefined,
  );
  const client = around(throttling, async (command, send, input) => {
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
      .flatMap((atMs) =>
        clusters
          .filter((_, at) => of === ALL || of === at)
          .map((cluster) => {
            const uid = autoscalerUid("uid-web");
            return event({ cluster, id: `${uid}:${++id}`, uid, atMs, settledMs: atMs });
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

/** Where a part of a list begins. */
interface Part {
  readonly fromMs: number;
  readonly after: EventRecord | undefined;
}

const burst = fc.record({
  agoMs: fc.oneof(fc.nat({ max: 60 * DAY_MS }), fc.nat({ max: 3 * DAY_MS })),
  count: fc.constantFrom(1, 3, 40, 300),
  spacingMs: fc.constantFrom(0, 1, 1_000, 86_400),
  of: fc.nat({ max: ALL }),
});

describe("the events of a fleet", () => {
  it("are always complete and in order, however dense they are and wherever a search stops or a page ends", async () => {
    const property = fc.asyncProperty(
      fc.array(burst, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 6 }),
      // A page is full after so many events.
      fc.constantFrom(90, 700, 2_000),
      async (bursts, closes, inRowMax, pageMax) => {
        const { tables, clusters, stored, seen } = await newFleet(bursts, closes);
        const listed: EventRecord[] = [];
        let parts = 0;
        let next: Part | undefined = { fromMs: SINCE, after: undefined };
        while (next) {
          expect(++parts, "parts of a list").toBeLessThan(5_000);
          const { fromMs, after } = next as Part;
          next = undefined;
          const search = {
            after,
            stops: (inRow: number) => inRow > inRowMax,
            onStop: (atMs: number, last: EventRecord | undefined) => {
              next = { fromMs: atMs, after: last };
            },
          };
          let room = pageMax;
          for await (const one of eventsOfFleet(
            tables,
            clusters,
            { sinceMs: fromMs, untilMs: NOON },
            search,
          )) {
            listed.push(one);
            if (--room > 0) continue;
            next = { fromMs: one.atMs, after: one };
            break;
          }
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

  it("of one instant in many clusters take a unit for four events at most, and four requests in a row", async () => {
    const CLUSTERS = 60;
    const EACH = 130;
    const names = Array.from({ length: CLUSTERS }, (_, at) =>
      clusterName(`instant-${String(at).padStart(2, "0")}`),
    );
    const whole = memoryEngine("whole");
    let units = 0;
    const client = around(whole.client, async (_command, send) => {
      const answer = (await send()) as { ConsumedCapacity?: { CapacityUnits: number } };
      units += answer.ConsumedCapacity?.CapacityUnits ?? 0;
      return answer;
    });
    const tables = testTables(client, engine.tables, () => NOON);
    for (const cluster of names)
      await insertEvents(
        insertByStatement(tables),
        Array.from({ length: EACH }, (_, at) => {
          const uid = autoscalerUid(`uid-${at}`);
          return event({ cluster, id: `${uid}:1`, uid, atMs: NOON - 1, settledMs: NOON });
        }),
      );
    units = 0;
    const listed: EventRecord[] = [];
    let [inRow, after]: [number, EventRecord | undefined] = [0, undefined];
    const stretch = { sinceMs: NOON - 3_600_000, untilMs: NOON };
    // A page holds some 1,500 events.
    for (let page = 1; page <= 6; page++) {
      let given = 0;
      const stops = (requests: number): boolean => {
        inRow = Math.max(inRow, requests);
        return false;
      };
      for await (const one of eventsOfFleet(tables, names, stretch, { after, stops })) {
        listed.push(one);
        after = one;
        if (++given >= 1_500) break;
      }
    }
    expect(listed.map(({ cluster, id }) => `${cluster} ${id}`)).toEqual(
      [...new Set(listed.map(({ cluster, id }) => `${cluster} ${id}`))].toSorted(inOrder),
    );
    expect(listed).toHaveLength(CLUSTERS * EACH);
    expect(units).toBeLessThanOrEqual(listed.length / 4);
    expect(inRow).toBeLessThanOrEqual(5);
  });
});
