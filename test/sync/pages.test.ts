import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deleteAutoscaler, putAutoscaler, raiseSpecVersion } from "../../lib/store/autoscalers.ts";
import { decodePage } from "../../lib/store/page-codec.ts";
import { PAGE_ENTRIES } from "../../lib/store/page-plan.ts";
import { readPage } from "../../lib/store/pages.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";

/** What the pages say of each autoscaler: when it was first recommended anything. */
const firstSeen = async (world: World): Promise<ReadonlyMap<string, number | undefined>> => {
  const { pages, pageGeneration: generation } = await world.head();
  const seen = new Map<string, number | undefined>();
  for (const index of pages.keys()) {
    const item = await readPage(world.tables, { partition: world.partition, generation, index });
    const page = item && decodePage(item.body);
    if (page?.kind !== "read") throw new Error(`page ${index} cannot be read`);
    for (const [uid, { windows }] of page.entries) seen.set(uid, windows.memory.recommendations?.[0]?.firstMs);
  }
  return seen;
};

class Died extends Error {}

/** A worker that dies at its nth call to the tables, before or after that call takes effect. */
const mortal = (world: World, dieAt: number, after: boolean) => {
  let calls = 0;
  const client = around(world.tables.client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (nth === dieAt && after) await send();
    throw new Died();
  });
  return world.worker({ tables: { ...world.tables, client } });
};

const stepArbitrary = fc.record({
  /** Autoscalers that come (or go, if negative) before the sync. */
  more: fc.integer({ min: -2 * PAGE_ENTRIES, max: 2 * PAGE_ENTRIES }),
  /** Call at which a first sync of this due time dies; from about 20 on it lives. */
  dieAt: fc.integer({ min: 1, max: 30 }),
  after: fc.boolean(),
});

type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** Lets autoscalers go, the oldest first, and others come; returns the names of those. */
const change = async (world: World, since: Map<string, number>, { more }: Step): Promise<readonly string[]> => {
  const gone = [...since.keys()].slice(0, Math.max(0, -more));
  const come = Array.from({ length: Math.max(0, more) }, (_, at) => `app-${world.nowMs}-${at}`);
  for (const name of gone) {
    since.delete(name);
    await deleteAutoscaler(world.tables, world.autoscaler(name), 1);
  }
  for (const name of come) {
    world.cluster.workloads.set(name, { uid: `uid-of-${name}`, replicas: 3, resourceVersion: 1, generation: 1, demand: 3 });
    await putAutoscaler(world.tables, world.autoscaler(name), undefined);
  }
  await raiseSpecVersion(world.tables, world.partition);
  return come;
};

const dying = async (world: World, { dieAt, after }: Step): Promise<void> => {
  try {
    await world.sync(mortal(world, dieAt, after));
  } catch (error) {
    // A failed sync also fails to give its lease back.
    if (!(error instanceof Died || error instanceof AggregateError)) throw error;
  }
};

describe("the pages of a partition", () => {
  it("never lose a window while they split and merge as autoscalers come and go, wherever a sync dies", async () => {
    const counts = new Set<number>();
    const play = async (steps: readonly Step[]): Promise<void> => {
      const engine = await startMemory();
      const world = await newWorld(engine.client, engine.tables, {});
      const since = new Map<string, number>();
      const warm = world.worker();
      for (const step of steps) {
        const come = await change(world, since, step);
        await dying(world, step);
        // The dead holder's lease runs out.
        world.nowMs += 3 * PERIOD_MS;
        await world.sync(warm);
        const seen = await firstSeen(world);
        for (const name of come) since.set(name, seen.get(`uid-${name}`) ?? -1);
        expect(seen).toEqual(new Map([...since].map(([name, firstMs]) => [`uid-${name}`, firstMs])));
        expect(come.every((name) => (since.get(name) ?? -1) > 0)).toBe(true);
        counts.add((await world.head()).pages.length);
        world.nowMs += PERIOD_MS;
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(stepArbitrary, { minLength: 3, maxLength: 6 }), play), { numRuns: 8 });
    // The story is told of several numbers of pages, or it says nothing.
    expect(counts.size).toBeGreaterThanOrEqual(3);
  });
});
