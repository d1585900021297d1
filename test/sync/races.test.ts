import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deleteCluster } from "../../lib/stack/store/records/clusters.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around, once, type TableFault, withFaults } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const wanting = async (
  replicas = 5,
  options: Parameters<typeof newWorld>[3] = {},
): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 }, options);
  workloadOf(world, "web").demand = replicas;
  return world;
};

/** A worker whose calls to the tables of the given command fail once each. */
const workerWith = (
  world: World,
  ...planted: readonly { command: string; fault: TableFault }[]
): SyncPorts =>
  world.worker({
    tables: { ...world.tables, client: withFaults(engine.client, once(...planted)) },
  });

describe("messages", () => {
  it("delivered twice at once have one effect", async () => {
    const world = await wanting();
    const reports = await Promise.all([world.sync(), world.sync(), world.sync()]);
    expect(reports.filter(({ kind }) => kind === "completed")).toHaveLength(1);
    expect(
      reports.filter(
        (report) => report.kind === "dropped" && ["held", "done"].includes(report.why),
      ),
    ).toHaveLength(2);
    expect(world.cluster.puts).toHaveLength(1);
    expect(await world.events()).toHaveLength(1);
  });

  it("delivered again are dropped without a look at the cluster", async () => {
    const world = await wanting();
    await world.sync();
    const { calls } = world.cluster;
    expect(await world.sync()).toMatchObject({ kind: "dropped", why: "done" });
    expect(world.cluster.calls).toBe(calls);
  });

  it("of an earlier due time are dropped once a later one is done", async () => {
    const world = await wanting();
    await world.sync();
    const earlier = { ...world.partition, dueMs: world.nowMs - PERIOD_MS, periodMs: PERIOD_MS };
    expect(await sync(world.worker(), earlier)).toMatchObject({ kind: "dropped", why: "done" });
  });

  it.each([
    [3 * PERIOD_MS, "completed"],
    [3 * PERIOD_MS + 1, "dropped"],
  ])("that are %d ms old are %s", async (ageMs, kind) => {
    const world = await wanting();
    expect(
      await sync(world.worker(), {
        ...world.partition,
        dueMs: world.nowMs - ageMs,
        periodMs: PERIOD_MS,
      }),
    ).toMatchObject({ kind });
  });

  it("of a partition that was removed are dropped", async () => {
    const world = await wanting();
    await deleteCluster(world.tables, world.record, 1);
    expect(await world.sync()).toMatchObject({ kind: "dropped", why: "removed" });
    expect(world.cluster.calls).toBe(0);
  });

  it("of a partition that was removed give the lease back, so that an edit need not wait for it", async () => {
    const world = await wanting();
    await deleteCluster(world.tables, world.record, 1);
    await world.sync();
    expect(await world.head()).toMatchObject({ leaseUntilMs: 0 });
  });
});

describe("an answer that was lost", () => {
  it.each(["claim", "intend", "release"] as const)(
    "of %s is known by its token: the sync goes on, once",
    async (write) => {
      const world = await wanting();
      const order = ["claim", "intend", "release"];
      let seen = 0;
      const client = withFaults(engine.client, (command) => {
        if (command !== "UpdateItemCommand") return undefined;
        return order[seen++] === write ? "lost answer" : undefined;
      });
      const report = await world.sync(world.worker({ tables: { ...world.tables, client } }));
      expect(report).toMatchObject({
        kind: "completed",
        epoch: 1,
        events: [{ id: "uid-web:1", outcome: "applied" }],
      });
      expect(world.cluster.puts).toHaveLength(1);
      expect(await world.head()).toMatchObject({
        epoch: 1,
        releasedEpoch: 1,
        writeNumber: 3,
        intents: [],
      });
    },
  );

  it.each(["lost answer", "lost request", "throttled", "server error"] as const)(
    "or a call that failed (%s) of an event or a page changes nothing",
    async (fault) => {
      const world = await wanting();
      const planted = ["BatchExecuteStatementCommand", "PutItemCommand"].flatMap((command) =>
        Array.from({ length: 4 }, () => ({ command, fault })),
      );
      expect(await world.sync(workerWith(world, ...planted))).toMatchObject({ kind: "completed" });
      expect(await world.events()).toHaveLength(1);
    },
  );
});

describe("a worker that is overtaken", () => {
  /** Holds the worker at its nth call of a kind until it is let go. */
  const heldAt = (world: World, command: string, nth: number) => {
    const [gate, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    const client = around(engine.client, async (name, send) => {
      if (name === command && ++calls === nth) {
        arrived.resolve();
        await gate.promise;
      }
      return send();
    });
    return {
      ports: world.worker({ tables: { ...world.tables, client } }),
      arrived: arrived.promise,
      release: gate.resolve,
    };
  };

  it("before it stored its intent makes no PUT", async () => {
    const world = await wanting();
    const { ports, arrived, release } = heldAt(world, "UpdateItemCommand", 2);
    const running = world.sync(ports);
    await arrived;
    world.nowMs += 3 * PERIOD_MS;
    expect(await world.sync()).toMatchObject({
      kind: "completed",
      epoch: 2,
      events: [{ id: "uid-web:2" }],
    });
    release();
    expect(await running).toMatchObject({ kind: "dropped", why: "lost" });
    expect(world.cluster.puts).toHaveLength(1);
    expect(await world.events()).toHaveLength(1);
  });

  it("before it stored its event finds the one of its successor, and stops at the page", async () => {
    const world = await wanting();
    const { ports, arrived, release } = heldAt(world, "BatchExecuteStatementCommand", 1);
    const running = world.sync(ports);
    await arrived;
    expect(world.cluster.puts).toHaveLength(1);
    world.nowMs += 3 * PERIOD_MS;
    expect(await world.sync()).toMatchObject({
      kind: "completed",
      epoch: 2,
      events: [{ id: "uid-web:1", outcome: "applied" }],
    });
    const settledMs = world.nowMs;
    release();
    expect(await running).toMatchObject({ kind: "dropped", why: "lost" });
    expect(await world.events()).toMatchObject([{ id: "uid-web:1", settledMs }]);
    world.nowMs += PERIOD_MS;
    expect(await world.sync()).toMatchObject({ kind: "completed", events: [] });
  });

  it("finds its PUT no longer allowed once its intent's time is over", async () => {
    const world = await wanting();
    // The clock moves while the intent is stored: a worker that was stopped for longer than a life.
    let updates = 0;
    const client = around(engine.client, async (name, send) => {
      const answer = await send();
      if (name === "UpdateItemCommand" && ++updates === 2) world.nowMs += 31_000;
      return answer;
    });
    expect(await world.sync(world.worker({ tables: { ...world.tables, client } }))).toMatchObject({
      events: [{ outcome: "refused", detail: "not sent: the sync ran out of time" }],
    });
    expect(world.cluster.puts).toEqual([]);
  });
});

describe("history that cannot be written", () => {
  it("ends the sync before its release, and no later sync acts on that workload until it can be", async () => {
    const world = await wanting();
    const broken = world.worker({ insert: () => Promise.reject(new Error("history is full")) });
    await expect(world.sync(broken)).rejects.toThrow("history is full");
    expect(workloadOf(world, "web").replicas).toBe(5);
    expect(await world.head()).toMatchObject({
      releasedEpoch: 0,
      leaseUntilMs: 0,
      intents: [{ id: "uid-web:1" }],
    });
    workloadOf(world, "web").demand = 9;
    for (const periods of [1, 1, 1, 1]) {
      world.nowMs += periods * PERIOD_MS;
      await expect(world.sync(broken)).rejects.toThrow("history is full");
    }
    expect(workloadOf(world, "web").replicas).toBe(5);
    world.nowMs += PERIOD_MS;
    expect(await world.sync()).toMatchObject({ events: [{ id: "uid-web:1", outcome: "applied" }] });
  });
});
