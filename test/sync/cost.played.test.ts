import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { journalPages } from "../../lib/stack/store/pages/plan.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { getFleet, putCluster, putFleet } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startDynalite } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { type Consumed, metered, nothingConsumed } from "../contracts/metered.ts";
import { override } from "../policy/bounds/schedules.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startDynalite();
});
afterAll(() => engine.close());

/** A world of which each sync tells what it consumed. */
const costed = async (autoscalers: number) => {
  const world = await newWorld(
    engine.client,
    engine.tables,
    Object.fromEntries(Array.from({ length: autoscalers }, (_, at) => [`app-${at}`, 3])),
  );
  let consumed = nothingConsumed();
  const client = metered(engine.client, () => consumed);
  const warm = world.worker({ tables: { ...world.tables, client } });
  const next = async (): Promise<Consumed> => {
    world.nowMs += PERIOD_MS;
    consumed = nothingConsumed();
    await world.sync(warm);
    return consumed;
  };
  return { world, next };
};

const FIVE_MINUTES = 300_000;

const syncs = async (
  next: () => Promise<Consumed>,
  count: number,
): Promise<readonly Consumed[]> => {
  const all: Consumed[] = [];
  for (let at = 0; at < count; at++) all.push(await next());
  return all;
};

const inState = (world: World, { writes, writeUnits }: Consumed) => ({
  writes: writes.get(world.tables.stateTable),
  units: writeUnits.get(world.tables.stateTable),
});

describe("the cost of a sync in steady state", () => {
  it.each([1, 100, 500])(
    "of %d autoscalers is two writes of one unit each, and nothing else but the summary and the journal of a minute",
    async (autoscalers) => {
      const { world, next } = await costed(autoscalers);
      // The first minute makes the pages and fills the journal once.
      await syncs(next, 5);
      const measured = await syncs(next, 8);
      const summaries = measured
        .map((consumed) => inState(world, consumed))
        .filter(({ writes }) => writes !== 2);
      expect(summaries.map(({ writes }) => writes)).toEqual([3, 3]);
      // Some 12 bytes for each of autoscalers that were never scaled.
      for (const { units = 0 } of summaries)
        expect(units - 2).toBeLessThanOrEqual(Math.ceil((autoscalers * 12 + 200) / 1_024));
      const steady = measured
        .map((consumed) => inState(world, consumed))
        .filter(({ writes }) => writes === 2);
      expect(steady.map(({ units }) => units)).toEqual(Array.from({ length: 6 }, () => 2));
      const journal = measured.flatMap(({ writes }) => writes.get(world.tables.historyTable) ?? []);
      const pages = journalPages((await world.head()).pages.length).length;
      expect(journal).toEqual([pages, pages]);
      // The kill switch and the cluster; every five minutes the manifests as well, because specs
      // are trusted for no longer.
      expect(Math.min(...measured.map(({ readUnits }) => readUnits))).toBe(2);
      const fiveMinutes = [...measured, ...(await syncs(next, FIVE_MINUTES / PERIOD_MS))].slice(
        -FIVE_MINUTES / PERIOD_MS,
      );
      expect(fiveMinutes.filter(({ readUnits }) => readUnits > 2)).toHaveLength(1);
    },
  );

  it("has the same reads and writes with overrides of the fleet, the cluster, a namespace and single autoscalers", async () => {
    const { world, next } = await costed(20);
    const { scope: _of, ...one } = override(
      "fleet",
      { max: 50 },
      { untilMs: Number.MAX_SAFE_INTEGER },
    );
    const several = [1, 2, 3, 4, 5].map((at) => ({ ...one, id: `o-${at}` }));
    const { version } = await getFleet(world.tables);
    await putFleet(world.tables, { overrides: several }, version);
    await putCluster(
      world.tables,
      {
        ...world.record,
        version: 2,
        overrides: [...several, { ...one, id: "o-6", namespace: "shop" }],
      },
      1,
    );
    for (const name of ["app-1", "app-2"])
      await putAutoscaler(world.tables, { ...world.autoscaler(name, 2), overrides: several }, 1);
    await raiseSpecVersion(world.tables, world.partition);
    await syncs(next, 5);
    const measured = await syncs(next, 8);
    expect(measured.filter((consumed) => inState(world, consumed).writes === 2)).toHaveLength(6);
    expect(new Set(measured.map((consumed) => inState(world, consumed).writes))).toEqual(
      new Set([2, 3]),
    );
    expect(Math.min(...measured.map(({ readUnits }) => readUnits))).toBe(2);
    await putFleet(world.tables, {}, version + 1);
  });

  it("is two queries of nothing more where an environment does not know the pages, and no write", async () => {
    const { world, next } = await costed(150);
    await syncs(next, 6);
    const [warm] = await syncs(next, 1);
    let consumed = nothingConsumed();
    const queries: string[] = [];
    const client = around(
      metered(engine.client, () => consumed),
      async (command, send) => {
        if (command === "QueryCommand") queries.push(command);
        return send();
      },
    );
    const ports = world.worker({ tables: { ...world.tables, client } });
    const counts: number[] = [];
    for (let count = 0; count < 3; count++) {
      world.nowMs += PERIOD_MS;
      consumed = nothingConsumed();
      queries.length = 0;
      await world.sync(ports);
      counts.push(queries.length);
      // One of them opens a minute, and writes the summary.
      if (Math.floor(world.nowMs / 60_000) === Math.floor((world.nowMs - PERIOD_MS) / 60_000))
        expect(inState(world, consumed)).toEqual(warm && inState(world, warm));
    }
    // The manifests, and one look at each side of the pages; then nothing.
    expect(counts).toEqual([3, 0, 0]);
  });

  it("grows by the pages that changed, and by an update of the head and two inserts for a scale", async () => {
    const { world, next } = await costed(150);
    await syncs(next, 8);
    workloadOf(world, "app-7").demand = 2;
    const [changed, same] = await syncs(next, 2);
    expect(changed && inState(world, changed).writes).toBe(3);
    expect(same && inState(world, same)).toEqual({ writes: 2, units: 2 });
    workloadOf(world, "app-7").demand = 9;
    const scaled = await next();
    expect(inState(world, scaled).writes).toBe(4);
    // Two items of the event, and the journal of the page that changed.
    expect(scaled.writes.get(world.tables.historyTable)).toBe(3);
  });
});
