import { describe, expect, it } from "vitest";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { closedDays } from "../../lib/stack/store/history/event-calendar.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { newWorld, PERIOD_MS, testTables, workloadOf } from "../sync/world.ts";
import { hpa } from "./world/manifests.ts";
import { recordOf } from "./world/shop.ts";
import { storeEvents } from "./world/synced.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const CONNECTION = { kind: "kubeconfig", path: "none" } as const;

/** A context whose clock stands at an instant, and which counts its queries. */
const contexts = async () => {
  const engine = await startMemory();
  let queries = 0;
  const client = around(engine.client, async (command, send) => {
    if (command === "QueryCommand") queries++;
    return send();
  });
  const at = (nowMs: number): ServiceContext => {
    const tables = testTables(client, engine.tables, () => nowMs);
    return {
      tables,
      insert: insertByStatement(tables),
      clock: () => nowMs,
      by: "ada",
      newUid: () => `uid-${nowMs}`,
    };
  };
  return {
    at,
    queriesOf: async (work: () => Promise<unknown>): Promise<number> => {
      const before = queries;
      await work();
      return queries - before;
    },
  };
};

const added = async (context: ServiceContext): Promise<void> => {
  const service = openService(context);
  await service.addCluster({ name: "eu-1", connection: CONNECTION });
  await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster: "eu-1",
    dryRun: false,
  });
  await storeEvents(context.insert, await recordOf(context, "web"), context.clock(), [[0, 2, 4]]);
};

const all = (context: ServiceContext, sinceMs?: number) =>
  Array.fromAsync(openService(context).events(sinceMs === undefined ? {} : { sinceMs }));

describe("events of all that is kept", () => {
  it("ask no day before a cluster was added", async () => {
    const { at, queriesOf } = await contexts();
    await added(at(NOON - 10 * DAY_MS));
    const now = at(NOON);
    // The clusters, the closed months, twice the closed days and the first change, and eleven days.
    expect(await queriesOf(async () => expect(await all(now)).toHaveLength(1))).toBe(17);
    expect(await queriesOf(async () => expect(await all(now, NOON - DAY_MS)).toEqual([]))).toBe(3);
  });

  it("are found from before a cluster was removed and added again", async () => {
    const { at } = await contexts();
    await added(at(NOON - 30 * DAY_MS));
    const later = openService(at(NOON - 20 * DAY_MS));
    await later.delete({ name: "web" });
    await later.removeCluster("eu-1");
    await added(at(NOON - 10 * DAY_MS));
    expect(await all(at(NOON))).toHaveLength(2);
  });

  it("are asked for day by day where the history no longer says when a cluster was added", async () => {
    const { at, queriesOf } = await contexts();
    await added(at(NOON - 500 * DAY_MS));
    const now = at(NOON);
    await openService(now).pauseCluster("eu-1");
    expect(await queriesOf(() => all(now))).toBeGreaterThan(390);
  });

  it("ask no empty day that a sync has closed: the first sync of a day closes those that ended three days ago", async () => {
    const engine = await startMemory();
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    workloadOf(world, "web").demand = 5;
    const warm = world.worker();
    await world.sync(warm);
    await insertScopeChange(warm.insert, {
      id: "h",
      scope: "cluster",
      name: world.record.name,
      verb: "add",
      version: 1,
      atMs: NOON,
      by: "ada",
    });
    const closed = async (): Promise<readonly (readonly [string, number])[]> =>
      [
        ...(await closedDays(world.tables, world.record.name, {
          sinceMs: 0,
          untilMs: world.nowMs,
        })),
      ].map(([day, counts]) => [day, counts.size]);
    world.nowMs = NOON + 2.6 * DAY_MS;
    await world.sync(warm);
    expect(await closed()).toEqual([["2026-03-01", 1]]);
    world.nowMs = NOON + 9 * DAY_MS;
    await world.sync(warm);
    const days = await closed();
    expect(days.slice(0, 3)).toEqual([
      ["2026-03-01", 1],
      ["2026-03-02", 0],
      ["2026-03-03", 0],
    ]);
    expect(days).toHaveLength(7);
    world.nowMs += PERIOD_MS;
    await world.sync(warm);
    expect(await closed()).toEqual(days);
    await engine.close();
  });
});
