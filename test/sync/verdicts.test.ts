import { beforeEach, describe, expect, it } from "vitest";
import type { Decision } from "../../lib/rules/model/decision.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { startMemory } from "../contracts/engines.ts";
import { NAMESPACE_LOOKS_MAX } from "../../lib/stack/sync/decide/decide.ts";
import { readyPod } from "../observation.ts";
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

describe("autoscalers that look at more pods than their namespace has a share of", () => {
  it("hold by name, except the first one, which is always decided", async () => {
    const several = await newWorld(world.tables.client, world.tables, { api: 2, web: 2 });
    const { client } = several.cluster;
    const all = Array.from({ length: 200 }, (_, at) => readyPod(`web-${at}`));
    const crowded: typeof client = {
      ...client,
      observe: async (watched, limits) => {
        const observed = await client.observe(watched, limits);
        const pods = { all, select: () => [], looksAt: () => NAMESPACE_LOOKS_MAX + 1 };
        for (const [uid, one] of observed.observations)
          (observed.observations as Map<typeof uid, typeof one>).set(uid, {
            ...one,
            observation: { ...one.observation, pods },
          });
        return observed;
      },
    };
    for (const workload of several.cluster.workloads.values()) workload.demand = 5;
    await several.sync(several.worker({ connect: () => Promise.resolve(crowded) }));
    const counts = [...several.cluster.workloads.values()].map(({ replicas }) => replicas);
    expect(counts).toEqual([5, 2]);
    const page = await newestJournalPage(several.tables, several.partition, 0, several.nowMs);
    expect(page?.evaluations.map(({ because }) => because.reason)).toEqual([
      "Demand",
      "TenantOverShare",
    ]);
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
