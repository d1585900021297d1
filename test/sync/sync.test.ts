import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, startDynalite } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startDynalite();
});
afterAll(() => engine.close());

describe("sync()", () => {
  it("scales, leaves one event, and closes the head", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2, api: 3 });
    const web = world.cluster.workloads.get("web");
    if (web) web.demand = 5;
    const report = await world.sync();
    expect(report).toMatchObject({
      kind: "completed",
      autoscalers: 2,
      evaluated: 2,
      failed: 0,
      openIntents: 0,
      pagesWritten: 1,
      journalPages: 1,
    });
    expect(web?.replicas).toBe(5);
    expect(await world.events()).toMatchObject([
      {
        id: "uid-web:1",
        from: 2,
        to: 5,
        outcome: "applied",
        reason: "Demand",
        settledMs: world.nowMs,
      },
    ]);
    expect(await world.head()).toMatchObject({
      epoch: 1,
      releasedEpoch: 1,
      leaseUntilMs: 0,
      dueDoneMs: world.nowMs,
      intents: [],
      pages: [1],
    });
    world.nowMs += PERIOD_MS;
    expect(await world.sync()).toMatchObject({
      kind: "completed",
      events: [],
      pagesWritten: 0,
      journalPages: 0,
    });
  });
});
