import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { giveBack } from "../../lib/stack/store/head/release.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import type { Woken } from "../../lib/stack/plan/message.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const SECOND_MS = 1_000;
const WOKEN: Woken = { reason: "alarm web-queue" };

/** A sync that a wake of this instant has sent, in an environment whose waits are `waits`. */
const woken = (
  world: World,
  wake: Woken | undefined,
  waits: (ms: number) => Promise<void> = () => Promise.resolve(),
): Promise<SyncReport> =>
  sync(world.worker({ tables: { ...world.tables, wait: waits } }), {
    ...world.partition,
    dueMs: world.nowMs,
    periodMs: PERIOD_MS,
    ...(wake && { woken: wake }),
  });

/** A world after its first sync, seconds after it. */
const synced = async (seconds: number, workloads: Readonly<Record<string, number>>) => {
  const world = await newWorld(engine.client, engine.tables, workloads);
  await world.sync();
  world.nowMs += seconds * SECOND_MS;
  return world;
};

const newestPage = (world: World) =>
  newestJournalPage(world.tables, world.partition, 0, world.nowMs);

describe("a woken sync", () => {
  it("scales between two planned syncs, and says why it ran", async () => {
    const world = await synced(4, { web: 0 });
    workloadOf(world, "web").demand = 3;
    expect(await woken(world, WOKEN)).toMatchObject({
      kind: "completed",
      woken: "alarm web-queue",
      events: [{ from: 0, to: 3, atMs: world.nowMs }],
    });
    expect(await newestPage(world)).toMatchObject({
      atMs: world.nowMs,
      woken: "alarm web-queue",
      evaluations: [{ name: "web", to: 3 }],
    });
  });

  it("has no second effect where its message comes twice, nor where the planned message comes after it", async () => {
    const world = await synced(4, { web: 0 });
    workloadOf(world, "web").demand = 3;
    await woken(world, WOKEN);
    expect(await woken(world, WOKEN)).toMatchObject({ kind: "dropped", why: "done" });
    expect(world.cluster.puts).toHaveLength(1);
    world.nowMs += PERIOD_MS - 4 * SECOND_MS;
    expect(await world.sync()).toMatchObject({ kind: "completed", events: [] });
  });

  it("keeps the autoscalers that the wake has named in the journal, also where nothing changed", async () => {
    const world = await synced(4, { web: 4, api: 4 });
    await woken(world, { ...WOKEN, names: ["api", "gone"] });
    expect(await newestPage(world)).toMatchObject({
      partial: true,
      evaluations: [{ name: "api" }],
    });
    const keptMs = world.nowMs;
    world.nowMs += SECOND_MS;
    await woken(world, { ...WOKEN, namespace: "other", names: ["api"] });
    await woken(world, WOKEN);
    expect((await newestPage(world))?.atMs).toBe(keptMs);
  });

  it("waits for a sync that is under way, because that one may have read the cluster before the wake", async () => {
    const world = await synced(4, { web: 0 });
    const { partition, tables } = world;
    const held = await claim(tables, {
      partition,
      dueMs: world.nowMs - 1,
      clockMs: world.nowMs,
      leaseUntilMs: world.nowMs + 34_000,
    });
    if (held.kind !== "claimed") throw new Error("the partition is free");
    const lease = { partition, epoch: held.head.epoch, writeNumber: held.head.writeNumber };
    expect(await woken(world, undefined)).toMatchObject({ kind: "dropped", why: "held" });
    let waited = 0;
    const wait = async (ms: number): Promise<void> => {
      waited += ms;
      if (waited === SECOND_MS) await giveBack(tables, lease);
    };
    expect(await woken(world, WOKEN, wait)).toMatchObject({ kind: "completed" });
    expect(waited).toBe(SECOND_MS);
  });

  it("is dropped after four seconds of another holder, which may have died", async () => {
    const world = await synced(4, { web: 0 });
    await claim(world.tables, {
      partition: world.partition,
      dueMs: world.nowMs - 1,
      clockMs: world.nowMs,
      leaseUntilMs: world.nowMs + 34_000,
    });
    let waited = 0;
    const wait = async (ms: number): Promise<void> => {
      waited += ms;
    };
    expect(await woken(world, WOKEN, wait)).toMatchObject({ kind: "dropped", why: "held" });
    expect(waited).toBe(4 * SECOND_MS);
  });
});
