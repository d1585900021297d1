import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { Windows } from "../../lib/rules/model/windows.ts";
import { decodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { getFleet, putCluster, putFleet } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { STABLE_MS } from "./demand-rules.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

/** The kill switch is one for all worlds of an engine: each test has its own. */
let engine: Engine;
beforeEach(async () => {
  engine = await startMemory();
});
afterEach(() => engine.close());

interface Stop {
  readonly stop: (world: World) => Promise<unknown>;
  readonly goOn: (world: World) => Promise<unknown>;
  readonly because: { readonly reason: string; readonly message: string };
}

const setFrozen = async ({ tables }: World, frozen: boolean): Promise<void> => {
  const { version } = await getFleet(tables);
  await putFleet(
    tables,
    frozen ? { frozen: { by: "ann", atMs: 1, reason: "game day" } } : {},
    version,
  );
};

const FREEZE: Stop = {
  stop: (world) => setFrozen(world, true),
  goOn: (world) => setFrozen(world, false),
  because: { reason: "FleetFrozen", message: "the fleet was frozen by ann: game day" },
};

const PAUSED_CLUSTER: Stop = {
  stop: ({ tables, record }) =>
    putCluster(tables, { ...record, version: 2, paused: { by: "bob", atMs: 1 } }, 1),
  goOn: ({ tables, record }) => putCluster(tables, { ...record, version: 3 }, 2),
  because: { reason: "ClusterPaused", message: "the cluster was paused by bob" },
};

const PAUSED_AUTOSCALER: Stop = {
  stop: async (world) => {
    await putAutoscaler(
      world.tables,
      { ...world.autoscaler("web", 2), paused: { by: "cem", atMs: 1 } },
      1,
    );
    await raiseSpecVersion(world.tables, world.partition);
  },
  goOn: async (world) => {
    await putAutoscaler(world.tables, world.autoscaler("web", 3), 2);
    await raiseSpecVersion(world.tables, world.partition);
  },
  because: { reason: "AutoscalerPaused", message: "the autoscaler was paused by cem" },
};

const EARLIER_CLUSTER: Stop = {
  stop: async (world) => {
    await putAutoscaler(
      world.tables,
      { ...world.autoscaler("web", 2), clusterUid: "uid-of-another" },
      1,
    );
    await raiseSpecVersion(world.tables, world.partition);
  },
  goOn: PAUSED_AUTOSCALER.goOn,
  because: {
    reason: "EarlierCluster",
    message: expect.stringContaining("which was removed since; apply it again"),
  },
};

const STOPS: readonly (readonly [string, Stop])[] = [
  ["frozen", FREEZE],
  ["paused with its cluster", PAUSED_CLUSTER],
  ["paused itself", PAUSED_AUTOSCALER],
  ["of an earlier cluster of this name", EARLIER_CLUSTER],
];

/** A workload of five replicas whose autoscaler was synced once, and then stopped. */
const stopped = async ({ stop }: Stop): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 5 });
  await world.sync();
  await stop(world);
  return world;
};

const next = async (world: World, demand: number) => {
  world.nowMs += PERIOD_MS;
  workloadOf(world, "web").demand = demand;
  return world.sync();
};

const told = async (world: World): Promise<Evaluation | undefined> =>
  (await newestJournalPage(world.tables, world.partition, 0, world.nowMs))?.evaluations.find(
    ({ name }) => name === "web",
  );

const windowsOf = async (world: World): Promise<Windows | undefined> => {
  const { pageGeneration } = await world.head();
  const page = decodePage(
    (
      await readPage(world.tables, {
        partition: world.partition,
        generation: pageGeneration,
        index: 0,
      })
    )?.body ?? new Uint8Array(),
  );
  return page.kind === "read" ? page.entries.get(autoscalerUid("uid-web"))?.windows : undefined;
};

const replicas = (world: World): number => workloadOf(world, "web").replicas;

describe.each(STOPS)("while an autoscaler is %s", (_name, stop) => {
  it("it is measured and journaled with what would happen, and nothing is written to the cluster", async () => {
    const world = await stopped(stop);
    expect(await next(world, 9)).toMatchObject({
      kind: "completed",
      evaluated: 1,
      heldBack: 1,
      events: [],
    });
    expect(await told(world)).toMatchObject({
      kind: "hold",
      failed: false,
      from: 5,
      because: stop.because,
      withoutHold: { to: 9, because: { reason: "Demand" } },
    });
    for (const demand of [1, 20, 5, 3, 30]) await next(world, demand);
    expect([world.cluster.puts, replicas(world)]).toEqual([[], 5]);
    expect((await world.head()).intents).toEqual([]);
    expect(await world.events()).toEqual([]);
  });

  it("a scale that was not made is counted by no window", async () => {
    const world = await stopped(stop);
    for (const demand of [9, 9, 1, 20]) await next(world, demand);
    expect(await windowsOf(world)).toMatchObject({ memory: { scaleUps: [], scaleDowns: [] } });
    expect((await windowsOf(world))?.status).not.toHaveProperty("lastScaleMs");
  });

  it("stabilization goes on, so that going on does not shrink the workload for one low value", async () => {
    const world = await stopped(stop);
    for (let periods = 0; periods < 12; periods++) await next(world, 5);
    await stop.goOn(world);
    expect(await next(world, 1)).toMatchObject({ events: [] });
    expect(replicas(world)).toBe(5);
    for (let periods = 0; periods < STABLE_MS / PERIOD_MS; periods++) await next(world, 1);
    expect(replicas(world)).toBe(1);
  });

  it("going on acts at once on what was measured for a whole window", async () => {
    const world = await stopped(stop);
    for (let periods = 0; periods < 12; periods++) await next(world, 2);
    expect(await told(world)).toMatchObject({ withoutHold: { to: 2 } });
    await stop.goOn(world);
    await next(world, 2);
    expect(replicas(world)).toBe(2);
  });

  it("an unchanged recommendation needs no page, as in every other sync", async () => {
    const world = await stopped(stop);
    await next(world, 5);
    for (let periods = 0; periods < 3; periods++)
      expect(await next(world, 5)).toMatchObject({ pagesWritten: 0 });
    expect(await world.head()).toMatchObject({
      evaluatedMs: NOON + 4 * PERIOD_MS,
      nowMs: NOON + 4 * PERIOD_MS,
    });
  });

  it("what is open is settled all the same", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    workloadOf(world, "web").demand = 7;
    world.cluster.faults.push("lost answer");
    await world.sync();
    await stop.stop(world);
    for (let periods = 0; periods < 2; periods++)
      expect(await next(world, 7)).toMatchObject({ openIntents: 1 });
    expect(await next(world, 7)).toMatchObject({
      openIntents: 0,
      events: [{ outcome: "applied", from: 5, to: 7 }],
    });
    expect(await windowsOf(world)).toMatchObject({
      memory: { scaleUps: [{ change: 2, eventId: "uid-web:1" }] },
    });
  });

  it("what else would hold it is told as well", async () => {
    const world = await stopped(stop);
    world.cluster.rivals.set("web", [{ kind: "HorizontalPodAutoscaler", name: "web" }]);
    expect(await next(world, 9)).toMatchObject({ heldBack: 0 });
    expect((await told(world))?.withoutHold).toEqual({
      because: {
        reason: "RivalController",
        message: 'the workload is also scaled by HorizontalPodAutoscaler "web"',
      },
    });
  });
});

describe("a sync that may write nothing", () => {
  it("says so in its report, also where its cluster cannot be reached", async () => {
    const world = await stopped(FREEZE);
    expect(await next(world, 9)).toMatchObject({ stopped: FREEZE.because });
    world.nowMs += PERIOD_MS;
    expect(
      await world.sync(
        world.worker({ connect: () => Promise.reject(new Error("no such secret")) }),
      ),
    ).toMatchObject({
      stopped: FREEZE.because,
      evaluated: 1,
      failed: 1,
    });
    expect((await told(world))?.withoutHold).toEqual({
      because: { reason: "FailedGetScale", message: "no such secret" },
    });
  });

  it("still tells what cannot be read: a freeze hides no damage", async () => {
    const world = await stopped(FREEZE);
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "broken" }, 1);
    expect(await next(world, 9)).toMatchObject({
      stopped: FREEZE.because,
      unreadable: [{ name: "web", reason: "InvalidSpec" }],
    });
  });

  it("goes on by itself when the pause of its cluster ends", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    workloadOf(world, "web").demand = 7;
    await putCluster(
      world.tables,
      { ...world.record, version: 2, paused: { by: "bob", atMs: 1, untilMs: world.nowMs + 1 } },
      1,
    );
    const message = "the cluster was paused by bob until 2026-03-01T12:00:00.001Z";
    expect(await world.sync()).toMatchObject({ stopped: { reason: "ClusterPaused", message } });
    expect(replicas(world)).toBe(5);
    await next(world, 7);
    expect(replicas(world)).toBe(7);
  });
});
