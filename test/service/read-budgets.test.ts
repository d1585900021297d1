import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/api/paths.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { ANSWERS, BUDGETS, builtFleet, type Fleet, holdsBudget, SIZES } from "./world/read-questions.ts";

/** The largest fleet is in read-budgets.played.test.ts: it takes longest to make. */
const [ONE, HUNDRED] = SIZES;
const engines: Engine[] = [];
const fleets: Fleet[] = [];
beforeAll(async () => {
  for (const size of [ONE, HUNDRED]) {
    const engine = await startMemory();
    engines.push(engine);
    fleets.push(await builtFleet(engine, size));
  }
}, 120_000);
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

describe("the read budgets of docs/speed.md", () => {
  it("are of each answer here, and of no other, and each route has one", () => {
    expect([...BUDGETS.keys()]).toEqual(Object.keys(ANSWERS));
    const [fleet] = fleets;
    if (!fleet) throw new Error("there is no fleet");
    const asked = new Set(Object.values(ANSWERS).map(({ question }) => question(fleet, undefined).path));
    expect([...asked].toSorted()).toEqual([...Object.values(QUERY_PATHS), METRICS_PATH].toSorted());
  });

  it.each(Object.keys(ANSWERS).flatMap((answer) => [ONE, HUNDRED].map(([clusters], at) => [answer, clusters, at] as const)))(
    "hold for %s with %i clusters of 100 autoscalers, and say no more than twice of what it takes",
    (answer, _clusters, at) => holdsBudget(fleets[at], answer, at),
  );
});
