import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage, writePage } from "../../lib/stack/store/pages/pages.ts";
import { PAGE_ENTRIES } from "../../lib/stack/store/pages/plan.ts";
import {
  deleteAutoscaler,
  putAutoscaler,
  raiseSpecVersion,
} from "../../lib/stack/store/records/autoscalers.ts";
import { headKey, pageKey } from "../../lib/stack/store/table/keys.ts";
import { readAll } from "../../lib/stack/store/table/read-many.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { collected, newWorld, PERIOD_MS, type World } from "./world.ts";
import { runs } from "../runs.ts";

/** What the pages say of each autoscaler: when it was first recommended anything. */
const firstSeen = async (world: World): Promise<ReadonlyMap<string, number | undefined>> => {
  const { pages, pageGeneration: generation } = await world.head();
  const seen = new Map<string, number | undefined>();
  for (const index of pages.keys()) {
    const item = await readPage(world.tables, { partition: world.partition, generation, index });
    const page = item && decodePage(item.body);
    if (page?.kind !== "read") throw new Error(`page ${index} cannot be read`);
    for (const [uid, { windows }] of page.entries)
      seen.set(uid, windows.memory.recommendations?.[0]?.firstMs);
  }
  return seen;
};

/** Keys of every page item of the partition, named or not. */
const pageKeys = async (world: World): Promise<readonly string[]> => {
  const { pk } = headKey(world.partition);
  const params = {
    TableName: "state",
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :page)",
  };
  const values = { ":pk": { S: pk }, ":page": { S: "page#" } };
  const items = await collected(
    readAll(world.tables, "look", { ...params, ExpressionAttributeValues: values }),
  );
  return items.map(({ sk }) => sk?.S ?? "");
};

const namedKeys = async (world: World): Promise<readonly string[]> => {
  const { pages, pageGeneration } = await world.head();
  return [...pages.keys()].map((index) => pageKey(world.partition, pageGeneration, index).sk);
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
const change = async (
  world: World,
  since: Map<string, number>,
  { more }: Step,
): Promise<readonly string[]> => {
  const gone = [...since.keys()].slice(0, Math.max(0, -more));
  const come = Array.from({ length: Math.max(0, more) }, (_, at) => `app-${world.nowMs}-${at}`);
  for (const name of gone) {
    since.delete(name);
    await deleteAutoscaler(world.tables, world.autoscaler(name), 1);
  }
  for (const name of come) {
    world.cluster.workloads.set(name, {
      uid: `uid-of-${name}`,
      replicas: 3,
      resourceVersion: 1,
      generation: 1,
      demand: 3,
    });
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
        expect(seen).toEqual(
          new Map([...since].map(([name, firstMs]) => [`uid-${name}`, firstMs])),
        );
        expect(come.every((name) => (since.get(name) ?? -1) > 0)).toBe(true);
        // Whatever the dead left behind is gone.
        expect(await pageKeys(world)).toEqual(await namedKeys(world));
        counts.add((await world.head()).pages.length);
        world.nowMs += PERIOD_MS;
      }
    };
    // One story grows on purpose: what is drawn may stay at one number of pages.
    const grows = [PAGE_ENTRIES / 2, PAGE_ENTRIES, 2 * PAGE_ENTRIES, -2 * PAGE_ENTRIES].map(
      (more, at): Step => ({ more, dieAt: 5 + 5 * at, after: at % 2 === 0 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 3, maxLength: 6 }), play),
      { ...runs(4), examples: [[grows]] },
    );
    // The story is told of several numbers of pages, or it says nothing.
    expect(counts.size).toBeGreaterThanOrEqual(3);
  });

  /**
   * A partition whose pages have just been divided, by a sync that died before it deleted the old
   * ones.
   */
  const leftOver = async (): Promise<{
    readonly world: World;
    readonly others: readonly string[];
  }> => {
    const engine = await startMemory();
    const world = await newWorld(engine.client, engine.tables, {});
    await change(world, new Map(), { more: 100, dieAt: 0, after: false });
    await world.sync();
    const others = await namedKeys(world);
    world.nowMs += PERIOD_MS;
    await change(world, new Map(), { more: 60, dieAt: 0, after: false });
    const deletes = around(world.tables.client, async (command, send) => {
      if (command === "DeleteItemCommand") throw new Died();
      return send();
    });
    await expect(
      world.sync(world.worker({ tables: { ...world.tables, client: deletes } })),
    ).rejects.toThrow();
    expect(await pageKeys(world)).toEqual([...others, ...(await namedKeys(world))]);
    return { world, others };
  };

  it("that a dead sync had left are taken away by the next one that does not know them", async () => {
    const { world } = await leftOver();
    expect((await world.head()).releasedEpoch).toBe((await world.head()).epoch);
    world.nowMs += PERIOD_MS;
    await world.sync();
    expect(await pageKeys(world)).toEqual(await namedKeys(world));
  });

  it("that no head came to name are deleted too, and never those of a later holder", async () => {
    const { world } = await leftOver();
    const { epoch, pageGeneration: generation } = await world.head();
    const unnamed = (index: number, of: number) =>
      writePage(world.tables, {
        id: { partition: world.partition, generation: generation + 1, index },
        epoch: of,
        body: Buffer.of(2),
      });
    await unnamed(0, epoch - 1);
    world.nowMs += PERIOD_MS;
    // A later holder writes its own page while this one, which has released, is about to look.
    const overtaken = around(world.tables.client, async (command, send) => {
      const answer = await send();
      if (command === "UpdateItemCommand" && (await world.head()).releasedEpoch === epoch + 1)
        await unnamed(1, epoch + 2);
      return answer;
    });
    await world.sync(world.worker({ tables: { ...world.tables, client: overtaken } }));
    expect(await pageKeys(world)).toEqual([
      ...(await namedKeys(world)),
      pageKey(world.partition, generation + 1, 1).sk,
    ]);
  });
});
