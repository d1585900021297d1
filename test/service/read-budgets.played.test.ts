import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import type { EventCount } from "../../lib/answers/views/event.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import {
  ANSWERS,
  builtFleet,
  DEPTH_MAX,
  environmentOf,
  EVENT_DAYS_AGO,
  type Fleet,
  holdsBudget,
  SIZES,
} from "./world/read-questions.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

describe("the read budgets of docs/speed.md", () => {
  const LARGEST = 2;
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await builtFleet(engine, SIZES[LARGEST]);
  }, 240_000);

  it.each(Object.keys(ANSWERS))(
    "hold for %s with 500 clusters of 20 autoscalers, and say no more than twice of what it takes",
    (answer) => holdsBudget(fleet, answer, LARGEST),
  );
});

describe("days that nobody has counted", () => {
  const DAYS = 40;
  const inFleet = EVENT_DAYS_AGO.filter((days) => days <= DAYS).length;
  const since = ({ nowMs }: Fleet): { readonly since: string } => ({
    since: new Date(nowMs - DAYS * DAY_MS).toISOString(),
  });

  it.each([
    [100, 2],
    [500, 1],
  ])(
    "take no more than eight requests in a row with %i clusters, and no event is missing",
    async (clusters, each) => {
      const own = await startMemory();
      const fleet = await builtFleet(own, [clusters, each], false);
      const measure = environmentOf(fleet);
      const listed = await measure({ path: QUERY_PATHS.events, query: since(fleet) });
      expect(listed.answer.items).toHaveLength(inFleet * clusters);
      const counted = await measure({ path: QUERY_PATHS.eventCounts, query: since(fleet) });
      expect(
        (counted.answer.items as readonly EventCount[]).reduce((sum, { ups }) => sum + ups, 0),
      ).toBe(inFleet * clusters);
      const others = [
        QUERY_PATHS.changes,
        QUERY_PATHS.status,
        QUERY_PATHS.rows,
        QUERY_PATHS.overrides,
        QUERY_PATHS.clusters,
      ];
      const depths = [listed.count[2], counted.count[2]];
      for (const path of others) depths.push((await measure({ path })).count[2]);
      expect(Math.max(...depths), String(depths)).toBeLessThanOrEqual(DEPTH_MAX);
      await own.close();
    },
    240_000,
  );
});
