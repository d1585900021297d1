import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { partitionData } from "../../lib/answers/service/partitions/partition-data.ts";
import { getAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const next = async (world: World) => {
  world.nowMs += PERIOD_MS;
  return world.sync();
};

const newestPage = async (world: World) => {
  const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
  return [page?.partial, page?.evaluations.map(({ name }) => name).toSorted()];
};

describe("the journal", () => {
  it("tells every page in the first sync of a minute, and what changed at once", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    const told: number[] = [];
    for (let periods = 0; periods < 9; periods++) {
      if (periods === 6) workloadOf(world, "web").demand = 5;
      const report = await next(world);
      told.push(report.kind === "completed" ? report.journalPages : 0);
    }
    expect(told).toEqual([1, 0, 0, 1, 0, 0, 1, 1, 0]);
  });

  it("tells the page whole in the first sync of a minute, then only the autoscalers that changed; a reader finds each where it was told last", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4, api: 4 });
    for (let periods = 0; periods < 4; periods++) await next(world);
    const wholeMs = world.nowMs;
    expect(await newestPage(world)).toEqual([undefined, ["api", "web"]]);
    workloadOf(world, "web").demand = 5;
    await next(world);
    expect(await newestPage(world)).toEqual([true, ["web"]]);
    const at = async (name: string, atMs: number) => {
      const record = await getAutoscaler(world.tables, {
        cluster: world.partition.cluster,
        namespace: namespace("shop"),
        name: autoscalerName(name),
      });
      const data = await partitionData(
        { tables: world.tables, clock: () => world.nowMs },
        world.partition,
        { periodMs: world.record.syncPeriodMs },
      );
      return record && (await data.evaluation(record, atMs))?.atMs;
    };
    expect([
      await at("web", world.nowMs),
      await at("api", world.nowMs),
      await at("web", world.nowMs - 1),
    ]).toEqual([world.nowMs, wholeMs, wholeMs]);
  });

  it("is not read back to before an autoscaler was created", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    for (let periods = 0; periods < 30; periods++) await next(world);
    let queries = 0;
    const client = around(engine.client, (command, send) => {
      if (command === "QueryCommand") queries++;
      return send();
    });
    const web = await getAutoscaler(world.tables, {
      cluster: world.partition.cluster,
      namespace: namespace("shop"),
      name: autoscalerName("web"),
    });
    if (!web) throw new Error("it is there");
    const data = await partitionData(
      { tables: { ...world.tables, client }, clock: () => world.nowMs },
      world.partition,
      { periodMs: world.record.syncPeriodMs },
    );
    const created = { ...web, uid: autoscalerUid("uid-new"), createdMs: world.nowMs };
    expect([await data.evaluation(created, world.nowMs), queries]).toEqual([undefined, 1]);
  });

  it("holds the evaluation with its outcome, and the status after it", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    workloadOf(world, "web").demand = 6;
    await world.sync();
    const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
    expect(page).toMatchObject({ atMs: world.nowMs, epoch: 1, page: 0 });
    expect(page?.evaluations).toMatchObject([
      {
        uid: "uid-web",
        namespace: "shop",
        name: "web",
        kind: "scale",
        failed: false,
        from: 4,
        to: 6,
        because: { reason: "Demand" },
        status: { desiredReplicas: 6 },
      },
    ]);
  });
});
