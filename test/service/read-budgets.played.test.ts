import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import type { EventCount } from "../../lib/answers/views/event.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";
import { REQUESTS_AT_ONCE } from "../../lib/stack/store/table/wait-for-all.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { DEPTH_MAX, environmentOf } from "./world/read-counts.ts";
import { ANSWERS } from "./world/read-questions.ts";
import {
  countsOfPage,
  GOALS,
  goalText,
  isReached,
  measured,
  NOT_YET,
  realFleets,
  SIZES,
} from "./world/read-table.ts";
import type { RealFleet } from "./world/real-fleet.ts";
import { builtFleet, EVENT_DAYS_AGO, type Fleet } from "./world/synced-fleet.ts";

/** The largest fleet takes half of the time: nights play it (`npm run nightly -- --only reads`). */
const PLAYED = process.env["READS_OF_ALL_SIZES"] === undefined ? SIZES.slice(0, -1) : SIZES;

const fleets: RealFleet[] = [];
beforeAll(async () => {
  for await (const fleet of realFleets(PLAYED)) fleets.push(fleet);
}, 600_000);
// The files of this project share processes: those that follow need the memory.
afterAll(() => {
  fleets.length = 0;
  measuredBefore.clear();
});

const fleetAt = (at: number): RealFleet => {
  const fleet = fleets[at];
  if (!fleet) throw new Error("there is no fleet");
  return fleet;
};

/** What was measured: a goal is of an answer whose budget is measured as well. */
const measuredBefore = new Map<string, ReturnType<typeof measured>>();
const measuredOnce = (at: number, name: string): ReturnType<typeof measured> => {
  const key = `${at} ${name}`;
  const known = measuredBefore.get(key) ?? measured(fleetAt(at), name);
  measuredBefore.set(key, known);
  return known;
};

const PAGE = countsOfPage();
/** A page of summaries or of a journal takes some bytes more or less with each uid. */
const mostOf = (count: number): number => Math.ceil(count * 1.15) + 1;

describe("what answers ask of the tables, as docs/speed.md says", () => {
  it("is said of each answer here, and of no other, and each route has one", () => {
    expect([...PAGE.keys()]).toEqual(Object.keys(ANSWERS));
    const asked = Object.values(ANSWERS).map(
      ({ question }) => question(fleetAt(0), undefined).path,
    );
    expect([...new Set(asked)].toSorted()).toEqual(
      [...Object.values(QUERY_PATHS), METRICS_PATH].toSorted(),
    );
  });

  describe.each(PLAYED.map(([clusters, each], at) => [clusters, each, at] as const))(
    "of %i clusters with %i autoscalers",
    (_clusters, _each, at) => {
      it.each(Object.keys(ANSWERS))(
        "%s takes no more, and no less than half of it",
        async (name) => {
          const { count, answer } = await measuredOnce(at, name);
          const said = PAGE.get(name)?.[at] ?? [];
          for (const [index, value] of count.entries()) {
            expect(value, `${name}: ${count}`).toBeLessThanOrEqual(mostOf(said[index] ?? 0));
            expect(said[index], `${name}: ${count}`).toBeLessThanOrEqual(2 * value + 1);
          }
          expect(answer.atOnce).toBeLessThanOrEqual(REQUESTS_AT_ONCE);
          if (!NOT_YET.has(name))
            expect(count[2], `${name}: ${count}`).toBeLessThanOrEqual(DEPTH_MAX);
        },
        300_000,
      );
    },
  );

  it.each(
    GOALS.filter(({ answer }) => !NOT_YET.has(answer)).map((one) => [one.answer, one] as const),
  )(
    "%s reaches its goal at 10,000 autoscalers in 100 clusters",
    async (answer, one) => {
      const { count } = await measuredOnce(1, answer);
      expect(isReached(one, count), `${goalText(one)}: ${count}`).toBe(true);
    },
    300_000,
  );
});

describe("days that nobody has counted", () => {
  const engines: Engine[] = [];
  afterAll(async () => {
    for (const engine of engines) await engine.close();
  });
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
      const own = await startMemory("whole");
      engines.push(own);
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
    },
    240_000,
  );
});
