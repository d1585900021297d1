import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Override } from "../../lib/rules/model/override.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { getFleet, putCluster, putFleet } from "../../lib/stack/store/records/clusters.ts";
import { statedIn } from "../../lib/stack/store/summary/summary-items.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { override } from "../policy/bounds/schedules.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

/** Overrides of the fleet meet all worlds of an engine: each test has its own. */
let engine: Engine;
beforeEach(async () => {
  engine = await startMemory();
});
afterEach(() => engine.close());

const UNTIL_MS = NOON + 2 * PERIOD_MS;

const stored = (set: Override["set"], more: Partial<Override> = {}): Override => {
  const { scope: _of, ...rest } = override("cluster", set, { untilMs: UNTIL_MS, ...more });
  return rest;
};

interface Place {
  readonly scope: Override["id"];
  readonly put: (world: World, one: Override) => Promise<unknown>;
}

const FLEET: Place = {
  scope: "the fleet",
  put: async ({ tables }, one) =>
    putFleet(tables, { overrides: [one] }, (await getFleet(tables)).version),
};
const CLUSTER: Place = {
  scope: "its cluster",
  put: ({ tables, record }, one) =>
    putCluster(tables, { ...record, version: 2, overrides: [one] }, 1),
};
const NAMESPACE: Place = {
  scope: "its namespace",
  put: (world, one) => CLUSTER.put(world, { ...one, namespace: "shop" }),
};
const AUTOSCALER: Place = {
  scope: "itself",
  put: async (world, one) => {
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), overrides: [one] }, 1);
    await raiseSpecVersion(world.tables, world.partition);
  },
};
const PLACES = [FLEET, CLUSTER, NAMESPACE, AUTOSCALER].map(
  (place) => [place.scope, place] as const,
);

/** A sync by the real rules, one period later. No metric is read: only bounds move the count. */
const synced = async (world: World): Promise<number> => {
  const worker = world.worker();
  await world.sync({ ...worker, rules: { ...PURE_PART, specOf: worker.rules.specOf } });
  world.nowMs += PERIOD_MS;
  return workloadOf(world, "web").replicas;
};

const newest = async (world: World) => {
  const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
  return page?.evaluations.find(({ name }) => name === "web");
};

describe("a sync with overrides", () => {
  it.each(PLACES)(
    "pins the count by an override of %s, says whose it is in event and journal, and ends it by the clock",
    async (_scope, place) => {
      const world = await newWorld(engine.client, engine.tables, { web: 5 });
      await place.put(world, stored({ min: 8, max: 8 }, { id: "o-1", by: "ann", reason: "sale" }));
      expect(await synced(world)).toBe(8);
      expect((await world.events())[0]).toMatchObject({
        from: 5,
        to: 8,
        reason: "SetMinimum",
        message: expect.stringContaining('minReplicas is 8 by the override "o-1" of ann: sale'),
      });
      expect(await newest(world)).toMatchObject({
        bounds: {
          min: 8,
          max: 8,
          minBy: { kind: "override", id: "o-1", untilMs: UNTIL_MS },
          maxBy: { by: "ann" },
        },
      });
      workloadOf(world, "web").replicas = 3;
      expect(await synced(world)).toBe(8);
      workloadOf(world, "web").replicas = 3;
      expect(await synced(world)).toBe(3);
      expect((await newest(world))?.bounds).toEqual({ min: 1, max: 100 });
    },
  );

  it.each(PLACES)(
    "holds by an override of %s, and says what would be done",
    async (_scope, place) => {
      const world = await newWorld(engine.client, engine.tables, { web: 0 });
      workloadOf(world, "web").replicas = 200;
      await place.put(world, stored({ hold: true }, { id: "o-2", by: "bob", reason: "incident" }));
      expect(await synced(world)).toBe(200);
      expect((await newest(world))?.because).toMatchObject({
        reason: "HeldByOverride",
        message: expect.stringContaining(
          'held by the override "o-2" of bob: incident, the count would be 100',
        ),
      });
      expect(await synced(world)).toBe(200);
      expect(await synced(world)).toBe(100);
    },
  );

  it("counts the autoscalers with an override of their own in the head, so that a status that finds none makes no further read", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    const overridden = async (): Promise<number | undefined> => {
      await synced(world);
      const head = await world.head();
      return head && statedIn(head)?.overridden;
    };
    expect(await overridden()).toBe(0);
    await AUTOSCALER.put(world, stored({ min: 8 }));
    expect(await overridden()).toBe(1);
    expect(await overridden()).toBe(0);
  });

  it("follows no override of another namespace", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    await CLUSTER.put(world, stored({ min: 8 }, { namespace: "cart" }));
    expect(await synced(world)).toBe(5);
  });
});
