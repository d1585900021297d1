import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import type { PutFault } from "./memory-cluster.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { ScaleEventRecord, ScaleTotals } from "../../lib/rules/model/scale-records.ts";

/**
 * Per-period limit of the rules: one scale of a workload in it. Longer than an intent may stay
 * open, so that what was settled late must count.
 */
const RATE_WINDOW_MS = 6 * PERIOD_MS;
const NAMES = ["web", "api", "db"] as const;
/** Largest difference of two clocks that the protocol allows for. */
const CLOCK_DIFFERENCE_MS = 4_000;

/** One due time as the fates have it. */
const stepArbitrary = fc.record({
  /** Number of the call to tables or cluster at which the worker dies; 60 is never reached. */
  dieAt: fc.integer({ min: 0, max: 60 }),
  /** Whether that call still takes effect. */
  dieAfter: fc.boolean(),
  putFaults: fc.array(
    fc.constantFrom<PutFault>("lost answer", "lost request", "late", "server error"),
    { maxLength: 2 },
  ),
  demand: fc.record({
    web: fc.integer({ min: 1, max: 9 }),
    api: fc.integer({ min: 1, max: 9 }),
    db: fc.integer({ min: 1, max: 9 }),
  }),
  /** A person changes a count between two syncs. */
  edit: fc.option(fc.constantFrom(...NAMES), { freq: 4 }),
  skewMs: fc.integer({ min: -2_000, max: 2_000 }),
  copies: fc.integer({ min: 1, max: 2 }),
  warm: fc.boolean(),
});
type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

class Died extends Error {}

/**
 * A worker that dies at its nth call: the call may take effect, but nothing is heard of it, and
 * nothing is called any more.
 */
const mortal = (world: World, ports: SyncPorts, { dieAt, dieAfter, skewMs }: Step): SyncPorts => {
  let calls = 0;
  const through = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const nth = ++calls;
    if (nth > dieAt) throw new Died();
    if (nth < dieAt) return call();
    if (dieAfter) await call();
    throw new Died();
  };
  const { client } = world.cluster;
  const tables = {
    ...ports.tables,
    clock: () => world.nowMs + skewMs,
    client: around(ports.tables.client, (_command, send) => through(send)),
  };
  return {
    ...world.worker({ tables }),
    rules: ports.rules,
    cache: ports.cache,
    connect: () =>
      Promise.resolve({
        observe: (watched, limits) => through(() => client.observe(watched, limits)),
        putScale: (write, timeoutMs) => through(() => client.putScale(write, timeoutMs)),
        readScale: (namespace, target, timeoutMs) =>
          through(() => client.readScale(namespace, target, timeoutMs)),
        listSpecs: (request) => through(() => client.listSpecs(request)),
        recommend: (recommender, request, timeoutMs) =>
          through(() => client.recommend(recommender, request, timeoutMs)),
        close: () => {},
      }),
  };
};

const play = async (world: World, warm: SyncPorts, step: Step): Promise<void> => {
  for (const name of NAMES) workloadOf(world, name).demand = step.demand[name];
  if (step.edit) {
    const edited = workloadOf(world, step.edit);
    edited.replicas = (edited.replicas % 9) + 1;
    edited.resourceVersion++;
    edited.generation++;
  }
  world.cluster.faults.push(...step.putFaults);
  for (let copy = 0; copy < step.copies; copy++) {
    const ports = mortal(world, step.warm ? warm : world.worker({ rules: warm.rules }), step);
    await world.sync(ports).catch((error: unknown) => {
      if (!(error instanceof Error)) throw error;
    });
  }
  world.cluster.faults.length = 0;
  // A PUT that is late lands before its server's time is over.
  world.nowMs += 4_000;
  for (const land of world.cluster.pending.splice(0)) land();
  world.nowMs += PERIOD_MS - 4_000;
};

/** After the faults: enough syncs for every deadline and window to pass. */
const settleDown = async (world: World): Promise<void> => {
  for (let periods = 0; periods < 20; periods++) {
    await world.sync();
    world.nowMs += PERIOD_MS;
  }
};

const effectsOf = (world: World, name: string) =>
  world.cluster.puts.filter(({ key, effect }) => key === name && effect);
const eventsOf = (events: readonly ScaleEventRecord[], name: string) =>
  events.filter((event) => event.name === name);

const storedTotals = async ({
  tables,
  partition,
  ...world
}: World): Promise<ReadonlyMap<string, ScaleTotals>> => {
  const { pages, pageGeneration: generation } = await world.head();
  const read = await Promise.all(
    pages.map((_epoch, index) => readPage(tables, { partition, generation, index })),
  );
  const entries = read.flatMap((item) => {
    const page = item && decodePage(item.body);
    return page?.kind === "read" ? [...page.entries.values()] : [];
  });
  return new Map(entries.flatMap(({ uid, totals }) => (totals ? [[uid, totals] as const] : [])));
};

const checkStory = async (world: World): Promise<void> => {
  const events = await world.events();
  expect((await world.head()).intents, "no intent stays open").toEqual([]);
  expect(new Set(events.map(({ id }) => id)).size, "one event per intent").toBe(events.length);
  const totals = await storedTotals(world);
  for (const name of NAMES) {
    const effects = effectsOf(world, name);
    const counted = eventsOf(events, name).filter(({ outcome }) => outcome !== "refused");
    expect(counted.length, "every PUT that took effect has its event").toBeGreaterThanOrEqual(
      effects.length,
    );
    const sum = (some: readonly ScaleEventRecord[]): number =>
      some.reduce((all, { from, to }) => all + Math.abs(to - from), 0);
    const [ups, downs] = [
      counted.filter(({ from, to }) => to > from),
      counted.filter(({ from, to }) => to < from),
    ];
    const { epoch: _epoch, ...stored } = totals.get(`uid-${name}`) ?? {
      ups: 0,
      added: 0,
      downs: 0,
      removed: 0,
      epoch: 0,
    };
    expect(stored, "the totals count each event once").toEqual({
      ups: ups.length,
      added: sum(ups),
      downs: downs.length,
      removed: sum(downs),
    });
    expect(workloadOf(world, name).replicas, "the count follows the demand in the end").toBe(
      workloadOf(world, name).demand,
    );
    const times = effects.map(({ atMs }) => atMs);
    for (const [at, atMs] of times.slice(1).entries()) {
      expect(
        atMs - (times[at] ?? 0),
        "no limit is exceeded as seen from the cluster",
      ).toBeGreaterThanOrEqual(RATE_WINDOW_MS - CLOCK_DIFFERENCE_MS);
    }
  }
};

describe("a sync that dies", () => {
  it("never loses an outcome, an event or a limit, wherever it dies, in whichever wave, and whatever becomes of its PUTs", async () => {
    const wave = fc.constantFrom(1, 2, 500);
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 1, maxLength: 10 }),
        fc.boolean(),
        wave,
        async (steps, generations, scalesPerWave) => {
          const engine = await startMemory();
          const options = { generations, rateWindowMs: RATE_WINDOW_MS, timing: { scalesPerWave } };
          const world = await newWorld(
            engine.client,
            engine.tables,
            { web: 2, api: 3, db: 4 },
            options,
          );
          const warm = world.worker();
          for (const step of steps) await play(world, warm, step);
          await settleDown(world);
          await checkStory(world);
        },
      ),
      { numRuns: 200 },
    );
  });
});
