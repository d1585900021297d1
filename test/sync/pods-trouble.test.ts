import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MetricOutcome, MetricPods } from "../../lib/rules/model/decision.ts";
import { LASTING_MS } from "../../lib/rules/model/summary.ts";
import { lasting, troublesOf, troublesText } from "../../lib/stack/store/head/troubles.ts";
import { decodeSummary } from "../../lib/stack/store/summary/summary-codec.ts";
import { readSummary } from "../../lib/stack/store/summary/summary-items.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { demandRules } from "./demand-rules.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_MS = 60_000;
const FOREIGN: MetricPods = { matched: 6, owned: 2, counted: 6 };
const OWN: MetricPods = { matched: 2, owned: 2, counted: 2 };

/** Syncs for so long while the pods behind the one metric are these. */
const syncs = async (world: World, lastsMs: number, pods: MetricPods): Promise<void> => {
  const metric: MetricOutcome = {
    kind: "measured",
    name: "cpu",
    type: "Resource",
    value: "60%",
    target: "60%",
    ratio: 1,
    proposal: 2,
    pods,
  };
  const rules = { ...demandRules(world.cluster), metricsInDetail: () => [metric] };
  const worker = world.worker({ rules });
  for (let sync = 0; sync < lastsMs / PERIOD_MS; sync++) {
    world.nowMs += PERIOD_MS;
    await world.sync(worker);
  }
};

const findingsOfRow = async (world: World): Promise<number | undefined> => {
  const item = await readSummary(world.tables, world.partition);
  return item && decodeSummary(item.body)?.rows[0]?.findings;
};

describe("pods that count and should not", () => {
  it("are a trouble in the head with the rule that finds them, since the minute of the first look", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await syncs(world, 16 * MINUTE_MS, FOREIGN);
    const { pods } = (await world.head()).troubles.of;
    if (!pods) throw new TypeError("there is none");
    expect(pods).toMatchObject({ first: "shop/web", rule: "foreign-pods" });
    expect(lasting(pods, world.nowMs, LASTING_MS)).toBe(1);
    expect(lasting(pods, world.nowMs, LASTING_MS + 2 * MINUTE_MS)).toBe(0);
  });

  it("are looked at once a minute: between two looks the trouble stays, and with the next it ends", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await syncs(world, MINUTE_MS, FOREIGN);
    await syncs(world, 2 * PERIOD_MS, OWN);
    expect((await world.head()).troubles.of.pods).toMatchObject({ first: "shop/web" });
    await syncs(world, MINUTE_MS, OWN);
    expect((await world.head()).troubles.of.pods).toBeUndefined();
  });

  it("are counted in the row of the autoscaler, and no more when they are gone", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 2 });
    await syncs(world, 2 * MINUTE_MS, FOREIGN);
    expect(await findingsOfRow(world)).toBe(1);
    await syncs(world, 2 * MINUTE_MS, OWN);
    expect(await findingsOfRow(world)).toBeUndefined();
  });

  it("survive the text of the head", () => {
    const pods = { since: new Map([["abcd", 600_000]]), first: "shop/web", rule: "old-samples" };
    expect(troublesOf(troublesText({ of: { pods } }))).toEqual({ of: { pods } });
  });
});
