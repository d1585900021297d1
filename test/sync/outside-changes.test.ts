import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uidOfIntent } from "../../lib/rules/model/ids.ts";
import type { Rival } from "../../lib/rules/model/observation.ts";
import { deleteAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const RATE_WINDOW_MS = 300_000;
const HPA: Rival = { kind: "HorizontalPodAutoscaler", name: "web" };

const worldOf = (replicas: number): Promise<World> =>
  newWorld(engine.client, engine.tables, { web: replicas }, { rateWindowMs: RATE_WINDOW_MS });

const next = async (world: World, ports = world.worker()): Promise<void> => {
  world.nowMs += PERIOD_MS;
  await world.sync(ports);
};

/** Others set another count. */
const set = (world: World, replicas: number): void => {
  const workload = workloadOf(world, "web");
  workload.replicas = replicas;
  workload.resourceVersion++;
  workload.generation++;
};

const show = ({ cluster }: World, rivals: readonly Rival[]): void => {
  cluster.rivals.set(
    "web",
    rivals.map(({ kind, name }) => ({ kind, name })),
  );
  cluster.looks = () => [{ kind: HPA.kind, outcome: "answered", rivals }];
};

const told = async (world: World): Promise<readonly unknown[]> =>
  (await world.outside()).map(({ from, to, reason, outcome }) => ({ from, to, reason, outcome }));

describe("a change of the count from outside", () => {
  it("is none where the uids of two workloads end alike and one of them is scaled", async () => {
    const world = await newWorld(engine.client, engine.tables, { "web-1a2b": 2, "api-1a2b": 2 });
    workloadOf(world, "web-1a2b").demand = 10;
    for (let count = 0; count < 3; count++) await next(world);
    expect([
      workloadOf(world, "web-1a2b").replicas,
      workloadOf(world, "api-1a2b").replicas,
    ]).toEqual([10, 2]);
    expect(await told(world)).toEqual([]);
  });

  it("beside another controller counts as a scale: after a takeover the limit of one in 300 s holds", async () => {
    const world = await worldOf(2);
    show(world, [HPA]);
    await next(world);
    set(world, 4);
    await next(world);
    expect(await told(world)).toEqual([
      { from: 2, to: 4, reason: "ChangedBeside", outcome: "outside" },
    ]);
    show(world, []);
    workloadOf(world, "web").demand = 10;
    await next(world);
    await next(world);
    expect(workloadOf(world, "web").replicas).toBe(4);
    world.nowMs += RATE_WINDOW_MS;
    await next(world);
    expect(workloadOf(world, "web").replicas).toBe(10);
  });

  it("is counted in the sync that finds it, also where the other controller is gone by then", async () => {
    const world = await worldOf(2);
    show(world, [HPA]);
    await next(world);
    set(world, 4);
    show(world, []);
    workloadOf(world, "web").demand = 10;
    await next(world);
    expect([workloadOf(world, "web").replicas, ...(await told(world))]).toEqual([
      4,
      { from: 2, to: 4, reason: "ChangedBeside", outcome: "outside" },
    ]);
  });

  it("by a person is an event, once, and rules that imitate a controller go on as the controller would", async () => {
    const world = await worldOf(25);
    show(world, []);
    await next(world);
    set(world, 10);
    const ports = world.worker();
    await next(world, ports);
    await next(world, ports);
    const [event, ...rest] = await world.outside();
    expect(rest).toEqual([]);
    expect(event).toMatchObject({
      from: 25,
      to: 10,
      reason: "ChangedOutside",
      message: "changed outside Tidemark, 25 → 10",
      name: "web",
    });
    expect(uidOfIntent(event?.id ?? "")).toBe("uid-web");
    expect(workloadOf(world, "web").replicas).toBe(25);
    expect(await world.events()).toMatchObject([{ from: 10, to: 25, outcome: "applied" }]);
  });

  it("is one event where the sync that found it dies before its release", async () => {
    const world = await worldOf(5);
    workloadOf(world, "web").demand = 1;
    show(world, [HPA]);
    await next(world);
    set(world, 7);
    const client = around(engine.client, (command, send) =>
      command === "PutItemCommand" ? Promise.reject(new Error("the process died")) : send(),
    );
    await expect(
      next(world, world.worker({ tables: { ...world.tables, client } })),
    ).rejects.toThrow("died");
    await next(world);
    expect(await told(world)).toEqual([
      { from: 5, to: 7, reason: "ChangedBeside", outcome: "outside" },
    ]);
  });

  it("is not what Tidemark has set, however late it learns of it", async () => {
    const world = await worldOf(2);
    await next(world);
    workloadOf(world, "web").demand = 5;
    world.cluster.faults.push("lost answer");
    await next(world);
    for (let at = 0; at < 6; at++) await next(world);
    expect([
      workloadOf(world, "web").replicas,
      (await world.events()).length,
      await told(world),
    ]).toEqual([5, 1, []]);
  });

  it("is not the scale of another autoscaler of the workload, made while this one could not be read", async () => {
    const world = await worldOf(2);
    await next(world);
    const web = world.autoscaler("web");
    await putAutoscaler(world.tables, { ...web, generation: 2, manifest: "broken" }, 1);
    const twin = { ...world.autoscaler("twin"), manifest: "web" };
    await putAutoscaler(world.tables, twin, undefined);
    workloadOf(world, "web").demand = 5;
    await next(world);
    expect(await world.events()).toMatchObject([{ name: "twin", from: 2, to: 5 }]);
    await deleteAutoscaler(world.tables, twin, 1);
    await putAutoscaler(world.tables, { ...web, generation: 3 }, 2);
    await next(world);
    expect(await told(world)).toEqual([]);
  });

  it("is not the scale of another autoscaler of the workload, made in the sync that counts an older one of this", async () => {
    const world = await newWorld(engine.client, engine.tables, { api: 2, web: 2 });
    await next(world);
    for (const name of ["api", "web"]) workloadOf(world, name).demand = 5;
    const client = around(engine.client, (command, send) =>
      command === "PutItemCommand" ? Promise.reject(new Error("the process died")) : send(),
    );
    const { timing } = world.worker();
    const dies = world.worker({
      timing: { ...timing, scalesPerWave: 1 },
      tables: { ...world.tables, client },
    });
    await expect(next(world, dies)).rejects.toThrow("died");
    // The head has the scale of the first wave as settled, and not as counted.
    const [first] = (await world.head()).uncounted;
    const own = ["api", "web"].find((name) => first?.uid === world.autoscaler(name).uid) ?? "";
    const record = world.autoscaler(own);
    await putAutoscaler(world.tables, { ...record, generation: 2, manifest: "broken" }, 1);
    const twin = { ...world.autoscaler("twin"), manifest: own };
    await putAutoscaler(world.tables, twin, undefined);
    workloadOf(world, own).demand = 8;
    await next(world);
    expect((await world.head()).uncounted).toEqual([]);
    expect((await world.events()).find(({ name }) => name === "twin")).toMatchObject({
      from: 5,
      to: 8,
    });
    await deleteAutoscaler(world.tables, twin, 1);
    await putAutoscaler(world.tables, { ...record, generation: 3 }, 2);
    await next(world);
    expect(await told(world)).toEqual([]);
  });

  it("is an event where a sync could not read its cluster, and settled the first scale of an autoscaler that is deleted", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    await next(world);
    world.cluster.workloads.set("api", {
      ...workloadOf(world, "web"),
      uid: "uid-of-api",
      replicas: 2,
      demand: 5,
    });
    const api = world.autoscaler("api");
    await putAutoscaler(world.tables, api, undefined);
    const client = around(engine.client, (command, send) =>
      command === "PutItemCommand" ? Promise.reject(new Error("the process died")) : send(),
    );
    await expect(
      next(world, world.worker({ tables: { ...world.tables, client } })),
    ).rejects.toThrow("died");
    expect(workloadOf(world, "api").replicas).toBe(5);
    set(world, 7);
    const { client: whole } = world.cluster;
    await deleteAutoscaler(world.tables, api, 1);
    // The LISTs fail, and the look at the workload of the overdue scale does not.
    const observe: typeof whole.observe = (...asked) => {
      world.cluster.broken = true;
      return whole.observe(...asked).finally(() => {
        world.cluster.broken = false;
      });
    };
    for (let periods = 0; periods < 4; periods++)
      await next(world, world.worker({ connect: () => Promise.resolve({ ...whole, observe }) }));
    expect((await world.head()).intents).toEqual([]);
    workloadOf(world, "web").demand = 7;
    await next(world);
    expect([(await world.events()).map(({ name }) => name), await told(world)]).toEqual([
      ["api"],
      [{ from: 5, to: 7, reason: "ChangedOutside", outcome: "outside" }],
    ]);
  });

  it("is not the count of another workload of the same name", async () => {
    const world = await worldOf(5);
    await next(world);
    world.cluster.workloads.set("web", {
      ...workloadOf(world, "web"),
      uid: "uid-made-anew",
      replicas: 1,
    });
    await next(world);
    expect(await told(world)).toEqual([]);
  });
});
