import { beforeEach, describe, expect, it } from "vitest";
import type { Decision } from "../../lib/rules/model/decision.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { startMemory } from "../contracts/engines.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { demandRules } from "./demand-rules.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  const engine = await startMemory();
  world = await newWorld(engine.client, engine.tables, { web: 2 });
});

const SCALE: Decision = {
  kind: "scale",
  from: 2,
  to: 5,
  trigger: "",
  because: { reason: "Wrong", message: "decided without a scale" },
  metrics: [],
  steps: [],
  events: [],
  windows: NEW_WINDOWS,
};

describe("the times of a decision", () => {
  it("are the clock before the cluster is asked, and the clock when a slow source has answered", async () => {
    const { client } = world.cluster;
    const startMs = world.nowMs;
    const slow: typeof client = {
      ...client,
      observe: async (watched, limits) => {
        const observed = await client.observe(watched, limits);
        world.nowMs += 6_000;
        return observed;
      },
    };
    const rules = demandRules(world.cluster);
    const decided: object[] = [];
    const decide: typeof rules.decide = (input) => {
      decided.push(input);
      return rules.decide(input);
    };
    await world.sync(
      world.worker({ rules: { ...rules, decide }, connect: () => Promise.resolve(slow) }),
    );
    expect(decided).toMatchObject([{ nowMs: startMs, answeredMs: startMs + 6_000 }]);
  });
});

describe("a scale that rules decide on a cluster that cannot be reached", () => {
  it("is a hold in the journal, has no intent and no event, and leaves the sync whole", async () => {
    const rules = { ...demandRules(world.cluster), decide: () => SCALE };
    const ports = world.worker({ rules, connect: () => Promise.reject(new Error("no route")) });
    const report = await sync(ports, {
      ...world.partition,
      dueMs: world.nowMs,
      periodMs: PERIOD_MS,
    });
    expect(report).toMatchObject({ kind: "completed", evaluated: 1, openIntents: 0, events: [] });
    const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
    expect(page?.evaluations).toMatchObject([{ kind: "hold", because: { reason: "Wrong" } }]);
    expect(await world.events()).toEqual([]);
  });
});
