import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  autoscalerName,
  type ClusterName,
  clusterName,
  namespace,
  partitionName,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { openQueries } from "../../lib/answers/service/open.ts";
import { closeDays } from "../store/close-days.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { type InsertHistory, insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { EventCount } from "../../lib/answers/views/event.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { testTables } from "../sync/world.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const CLUSTERS = ["a", "b"];
const step = fc.oneof(
  fc.record({
    kind: fc.constant("event" as const),
    agoMs: fc.nat({ max: 100 * DAY_MS }),
    settledLaterDays: fc.constantFrom(0, 0, 0, 1, 3, 40),
    of: fc.nat({ max: 1 }),
    name: fc.constantFrom("web", "api"),
    from: fc.integer({ min: 0, max: 5 }),
    to: fc.integer({ min: 0, max: 5 }),
    outcome: fc.constantFrom("applied", "refused", "unknown", "outside"),
  }),
  fc.record({ kind: fc.constant("close" as const), agoMs: fc.nat({ max: 100 * DAY_MS }) }),
);

/** What the stored events are, counted one by one. */
const expectedOf = (events: readonly ScaleEventRecord[]): readonly EventCount[] => {
  const lines = new Map<string, { -readonly [Field in keyof EventCount]: EventCount[Field] }>();
  for (const { cluster, namespace: inside, name, atMs, from, to, outcome } of events) {
    const month = new Date(atMs).toISOString().slice(0, "2026-03".length);
    const key = `${cluster} ${month} ${inside} ${name}`;
    const line = lines.get(key) ?? {
      month,
      cluster,
      namespace: inside,
      name,
      ups: 0,
      added: 0,
      downs: 0,
      removed: 0,
      refused: 0,
      outside: 0,
    };
    lines.set(key, line);
    if (outcome === "refused") line.refused += 1;
    else if ((outcome as string) === "outside") line.outside += 1;
    else if (to >= from) {
      line.ups += 1;
      line.added += to - from;
    } else {
      line.downs += 1;
      line.removed += from - to;
    }
  }
  return [...lines].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
};

type Step = Parameters<Parameters<(typeof step)["map"]>[0]>[0];
interface Played {
  readonly clusters: readonly ClusterName[];
  readonly tables: Tables;
  readonly insert: InsertHistory;
}

/**
 * In the order in which they happen: an event is inserted when it is settled. Returns the events
 * that were stored.
 */
const played = async (
  steps: readonly Step[],
  { clusters, tables, insert }: Played,
): Promise<readonly ScaleEventRecord[]> => {
  const stored: ScaleEventRecord[] = [];
  const timed = steps.map((one) => ({
    ...one,
    whenMs: NOON - one.agoMs + (one.kind === "event" ? one.settledLaterDays * DAY_MS : 0),
  }));
  const inTime = timed
    .filter(({ whenMs }) => whenMs <= NOON)
    .toSorted((a, b) => a.whenMs - b.whenMs);
  for (const [at, one] of inTime.entries()) {
    if (one.kind === "close") {
      for (const cluster of clusters) await closeDays(tables, insert, cluster, one.whenMs);
    } else {
      const settled = event({
        ...{
          cluster: clusters[one.of] ?? clusterName("none"),
          namespace: namespace("shop"),
          name: autoscalerName(one.name),
          id: `uid-web:${at}`,
        },
        ...{
          atMs: NOON - one.agoMs,
          settledMs: one.whenMs,
          from: one.from,
          to: one.to,
          outcome: one.outcome as ScaleEventRecord["outcome"],
        },
      });
      stored.push(settled);
      await insertEvents(insert, [settled]);
    }
  }
  return stored;
};

describe("counts of events by month", () => {
  it("are always those of the events stored, however events and closings follow each other, and of every range", async () => {
    const range = fc.tuple(fc.nat({ max: 100 * DAY_MS }), fc.nat({ max: 60 * DAY_MS }));
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      range,
      fc.boolean(),
      async (steps, [since, until], whole) => {
        // Tables of its own: the question is about the whole fleet, and would read those of every
        // run before.
        const engine = await startMemory();
        const clusters = CLUSTERS.map(clusterName);
        const tables = testTables(engine.client, engine.tables, () => NOON);
        const insert = insertByStatement(tables);
        for (const name of clusters)
          await putCluster(
            tables,
            {
              name,
              uid: "uid-of-cluster",
              syncPeriodMs: 15_000,
              partitions: [{ name: partitionName("default") }],
              settings: DEFAULT_SETTINGS,
              version: 1,
            },
            undefined,
          );
        const stored = await played(steps, { clusters, tables, insert });
        const [sinceMs, untilMs] = whole
          ? [NOON - 101 * DAY_MS, NOON]
          : [NOON - Math.max(since, until), NOON - Math.min(since, until)];
        const service = openQueries({ tables, clock: () => NOON });
        const counted = await Array.fromAsync(service.eventCounts({ sinceMs, untilMs }));
        expect(counted).toEqual(
          expectedOf(stored.filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs)),
        );
      },
    );
    await fc.assert(property, runs(25));
  }, 120_000);
});
