import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import type { PutFault, Workload } from "./memory-cluster.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** A world whose only workload wants 5 replicas instead of 2, and whose first PUT meets a fault. */
const faulty = async (
  fault: PutFault,
  options: Parameters<typeof newWorld>[3] = {},
): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 }, options);
  workloadOf(world, "web").demand = 5;
  world.cluster.faults.push(fault);
  await world.sync();
  return world;
};

const next = async (world: World, periods = 1) => {
  world.nowMs += periods * PERIOD_MS;
  return world.sync();
};

describe("an intent whose PUT was not clearly answered", () => {
  it("stays open until its deadline, and its workload holds meanwhile", async () => {
    const world = await faulty("lost request");
    expect(await world.events()).toEqual([]);
    expect((await world.head()).intents).toMatchObject([{ id: "uid-web:1", from: 2, to: 5 }]);
    expect(await next(world)).toMatchObject({ openIntents: 1, events: [] });
    expect(await next(world)).toMatchObject({ openIntents: 1, events: [] });
    expect(world.cluster.puts).toEqual([]);
  });

  it("is refused when its generation did not move, and only then the workload may scale again", async () => {
    const world = await faulty("lost request");
    expect(await next(world, 3)).toMatchObject({ openIntents: 1, events: [] });
    expect(await next(world)).toMatchObject({
      openIntents: 0,
      events: [{ id: "uid-web:1", outcome: "refused", settledMs: world.nowMs }],
    });
    expect(world.cluster.puts).toEqual([]);
    await next(world);
    expect(await world.events()).toMatchObject([
      { id: "uid-web:1" },
      { id: "uid-web:4", outcome: "applied" },
    ]);
    expect(workloadOf(world, "web").replicas).toBe(5);
  });

  it("is not refused by one look: a write that its API server gave up may be committed after it, and then counts", async () => {
    const world = await faulty("late", { rateWindowMs: 2 * PERIOD_MS });
    expect(await next(world, 3)).toMatchObject({ openIntents: 1, events: [] });
    world.cluster.pending.shift()?.();
    workloadOf(world, "web").demand = 7;
    expect(await next(world)).toMatchObject({
      openIntents: 0,
      events: [{ id: "uid-web:1", outcome: "applied" }],
    });
    expect(await next(world)).toMatchObject({ events: [] });
    expect(await next(world)).toMatchObject({ events: [{ from: 5, to: 7 }] });
  });

  it("is not refused by a second look in the same moments, as of a message that was late", async () => {
    const world = await faulty("lost request");
    await next(world, 3);
    world.nowMs += 1;
    const late = { ...world.partition, dueMs: world.nowMs, periodMs: PERIOD_MS };
    expect(await sync(world.worker(), late)).toMatchObject({ openIntents: 1, events: [] });
    expect(await next(world)).toMatchObject({ openIntents: 0, events: [{ outcome: "refused" }] });
  });

  it.each(["lost answer", "server error"] as const)(
    "is applied when its generation moved and the count is its own (%s)",
    async (fault) => {
      const world = await faulty(fault);
      await next(world, 3);
      expect(await world.events()).toMatchObject([
        { id: "uid-web:1", from: 2, to: 5, outcome: "applied", settledMs: world.nowMs },
      ]);
      expect((await world.head()).intents).toEqual([]);
    },
  );

  it("is unknown, and counts, when the workload is neither as it was nor as it should be", async () => {
    const world = await faulty("lost answer", { rateWindowMs: 2 * PERIOD_MS });
    Object.assign(workloadOf(world, "web"), { replicas: 4, generation: 3, resourceVersion: 9 });
    await next(world, 3);
    expect(await world.events()).toMatchObject([
      { outcome: "unknown", detail: "the workload changed, and has 4 replicas" },
    ]);
    expect(await next(world)).toMatchObject({ events: [] });
    expect(await next(world)).toMatchObject({ events: [{ id: "uid-web:4", from: 4, to: 5 }] });
  });

  it("is unknown when its workload was replaced by another of the same name, or is gone", async () => {
    const replaced = await faulty("lost request");
    workloadOf(replaced, "web").uid = "another";
    await next(replaced, 3);
    expect(await replaced.events()).toMatchObject([
      { outcome: "unknown", detail: "the workload was replaced by another of the same name" },
    ]);
    const gone = await faulty("lost request");
    gone.cluster.workloads.delete("web");
    await next(gone, 3);
    expect(await gone.events()).toMatchObject([
      { outcome: "unknown", detail: "the workload is gone" },
    ]);
  });

  it("stays open while the cluster cannot be seen, however late", async () => {
    const world = await faulty("lost answer");
    world.cluster.broken = true;
    expect(await next(world, 100)).toMatchObject({ openIntents: 1, events: [], failed: 1 });
    world.cluster.broken = false;
    expect(await next(world)).toMatchObject({ openIntents: 0, events: [{ outcome: "applied" }] });
  });

  it("is told by resourceVersion where the kind counts no generations, never by the count alone", async () => {
    const untouched = await faulty("lost request", { generations: false });
    workloadOf(untouched, "web").replicas = 5;
    await next(untouched, 3);
    await next(untouched);
    expect(await untouched.events()).toMatchObject([{ outcome: "refused" }]);
    const touched = await faulty("lost request", { generations: false });
    workloadOf(touched, "web").resourceVersion++;
    await next(touched, 3);
    expect(await touched.events()).toMatchObject([{ outcome: "unknown" }]);
    const landed = await faulty("lost answer", { generations: false });
    await next(landed, 3);
    expect(await landed.events()).toMatchObject([{ outcome: "applied" }]);
  });

  it("is not settled by an observation that began before its deadline was over, however long it took", async () => {
    const world = await faulty("lost request");
    world.nowMs += 2 * PERIOD_MS;
    const { client } = world.cluster;
    const slow: typeof client = {
      ...client,
      observe: async (watched, limits) => {
        const observed = await client.observe(watched, limits);
        world.nowMs += 2 * PERIOD_MS;
        return observed;
      },
    };
    expect(await world.sync(world.worker({ connect: () => Promise.resolve(slow) }))).toMatchObject({
      openIntents: 1,
      events: [],
    });
  });

  it.each([
    [39_000, 1],
    [39_001, 0],
  ])("%d ms after it was decided leaves %d intents open", async (afterMs, openIntents) => {
    const world = await faulty("lost answer");
    world.nowMs += afterMs;
    expect(await world.sync()).toMatchObject({ openIntents });
  });

  it("is sent once: a PUT whose answer is missing is not repeated", async () => {
    const world = await faulty("lost answer");
    expect(world.cluster.puts).toHaveLength(1);
    await next(world, 3);
    await next(world);
    expect(world.cluster.puts).toHaveLength(1);
  });

  it("that lands late, before its deadline, is never called refused", async () => {
    const world = await faulty("late");
    world.nowMs += 4_000;
    world.cluster.pending.shift()?.();
    world.nowMs += PERIOD_MS - 4_000;
    expect(await world.sync()).toMatchObject({ openIntents: 1, events: [] });
    await next(world, 2);
    expect(await world.events()).toMatchObject([{ outcome: "applied" }]);
    expect(world.cluster.puts).toMatchObject([{ replicas: 5, effect: true }]);
  });

  it("is settled when its autoscaler was deleted, by looking at the workload alone", async () => {
    const world = await faulty("lost answer");
    const { deleteAutoscaler, raiseSpecVersion } = await import(
      "../../lib/stack/store/records/autoscalers.ts"
    );
    await deleteAutoscaler(world.tables, world.autoscaler("web"), 1);
    await raiseSpecVersion(world.tables, world.partition);
    expect(await next(world, 3)).toMatchObject({
      autoscalers: 0,
      openIntents: 0,
      events: [{ outcome: "applied" }],
    });
  });
});

describe("a scale that was answered", () => {
  it("counts in the windows from a clock reading after its answer, not from when it was decided", async () => {
    const world = await newWorld(
      engine.client,
      engine.tables,
      { web: 2 },
      { rateWindowMs: PERIOD_MS },
    );
    const decidedMs = world.nowMs;
    workloadOf(world, "web").demand = 5;
    world.cluster.beforePut = () => {
      world.nowMs += 700;
    };
    await world.sync();
    expect(await world.events()).toMatchObject([{ atMs: decidedMs, settledMs: decidedMs + 700 }]);
    world.cluster.beforePut = () => {};
    workloadOf(world, "web").demand = 9;
    world.nowMs = decidedMs + PERIOD_MS;
    expect(await world.sync()).toMatchObject({ events: [] });
    world.nowMs = decidedMs + 2 * PERIOD_MS;
    expect(await world.sync()).toMatchObject({ events: [{ from: 5, to: 9 }] });
  });
});

describe("a conflict", () => {
  const conflicting = async (
    times: number,
    change = (_world: World): void => {},
    parts: (world: World) => Partial<SyncPorts> = () => ({}),
  ): Promise<World> => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    const web = workloadOf(world, "web");
    web.demand = 5;
    let left = times;
    world.cluster.beforePut = () => {
      if (left-- <= 0) return;
      web.resourceVersion++;
      change(world);
    };
    await world.sync(world.worker(parts(world)));
    return world;
  };

  it("is followed by a wait of 10 ms before the workload is read again", async () => {
    const waits: number[] = [];
    const wait = async (ms: number): Promise<void> => void waits.push(ms);
    await conflicting(3, undefined, ({ tables }) => ({ tables: { ...tables, wait } }));
    expect(waits).toEqual([10, 10, 10]);
  });

  it.each([1, 4])(
    "met %s times is written again with the same count, under the same intent",
    async (times) => {
      const world = await conflicting(times);
      expect(world.cluster.puts).toMatchObject([{ replicas: 5 }]);
      expect(await world.events()).toMatchObject([{ id: "uid-web:1", outcome: "applied" }]);
    },
  );

  it("met five times is a refusal", async () => {
    const world = await conflicting(5);
    expect(world.cluster.puts).toEqual([]);
    expect(await world.events()).toMatchObject([
      { outcome: "refused", detail: "the object has been modified" },
    ]);
  });

  it("with another object of the same name is never written again, and counts as unknown: a copy of the write may have changed the object before", async () => {
    const world = await conflicting(1, (of) => {
      workloadOf(of, "web").uid = "another";
    });
    expect(world.cluster.puts).toEqual([]);
    expect(await world.events()).toMatchObject([
      { outcome: "unknown", detail: "the workload was replaced by another of the same name" },
    ]);
  });

  it.each([
    [
      "is replaced",
      (web: Workload) => Object.assign(web, { uid: "another", replicas: 3, generation: 1 }),
    ],
    [
      "is set to another count",
      (web: Workload) => Object.assign(web, { replicas: 3, generation: web.generation + 1 }),
    ],
  ])(
    "that answers the repeat of a write which took effect counts as unknown, also where the workload %s before it is read again",
    async (_what, change) => {
      const world = await newWorld(engine.client, engine.tables, { web: 2 });
      const web = workloadOf(world, "web");
      web.demand = 5;
      world.cluster.faults.push("repeated");
      const { readScale } = world.cluster.client;
      world.cluster.client.readScale = async (...asked) => {
        change(web);
        return readScale(...asked);
      };
      await world.sync();
      expect(world.cluster.puts).toMatchObject([{ replicas: 5, effect: true }]);
      expect(await world.events()).toMatchObject([{ id: "uid-web:1", outcome: "unknown" }]);
    },
  );

  it("writes the same count over what another wrote meanwhile, as the controller does", async () => {
    const world = await conflicting(1, (of) => {
      workloadOf(of, "web").replicas = 9;
      workloadOf(of, "web").generation++;
    });
    expect(workloadOf(world, "web").replicas).toBe(5);
  });

  it("is not written again over the count of another stack", async () => {
    const world = await conflicting(1, (of) => {
      const web = workloadOf(of, "web");
      Object.assign(web, {
        replicas: 9,
        generation: web.generation + 1,
        lastScaledBy: "tidemark-other",
      });
    });
    expect(workloadOf(world, "web").replicas).toBe(9);
    expect(await world.events()).toMatchObject([
      {
        outcome: "refused",
        detail: expect.stringContaining('the field manager "tidemark-other" has scaled it'),
      },
    ]);
  });

  it.each([true, false])(
    "that answers the repeat of a write which took effect is no refusal: it counts as unknown (generations: %s)",
    async (generations) => {
      const world = await newWorld(engine.client, engine.tables, { web: 2 }, { generations });
      workloadOf(world, "web").demand = 5;
      world.cluster.faults.push("repeated");
      await world.sync();
      expect(workloadOf(world, "web").replicas).toBe(5);
      expect(await world.events()).toMatchObject([
        { id: "uid-web:1", outcome: "unknown", detail: expect.stringContaining("has 5 replicas") },
      ]);
    },
  );

  it("followed by a lost answer leaves the intent open", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    const web = workloadOf(world, "web");
    web.demand = 5;
    let puts = 0;
    world.cluster.beforePut = () => {
      if (++puts === 1) {
        web.resourceVersion++;
        world.cluster.faults.push("lost answer");
      }
    };
    expect(await world.sync()).toMatchObject({ openIntents: 1, events: [] });
    world.nowMs += 3 * PERIOD_MS;
    expect(await world.sync()).toMatchObject({
      openIntents: 0,
      events: [{ id: "uid-web:1", outcome: "applied" }],
    });
  });
});

describe("a scale that was clearly answered", () => {
  it("counts against limits from the answer, and gives room to the other direction from its decision", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    workloadOf(world, "web").demand = 5;
    const decidedMs = world.nowMs;
    world.cluster.beforePut = () => {
      world.nowMs += 5_000;
    };
    const { rules } = world.worker();
    const reports: object[] = [];
    const afterWrite: typeof rules.afterWrite = (report) => {
      reports.push(report);
      return rules.afterWrite(report);
    };
    await world.sync(world.worker({ rules: { ...rules, afterWrite } }));
    expect(reports).toMatchObject([
      { atMs: decidedMs + 5_000, earliestMs: decidedMs, eventId: "uid-web:1" },
    ]);
  });
});
