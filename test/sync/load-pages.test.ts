import { beforeEach, describe, expect, it } from "vitest";
import type { Head } from "../../lib/stack/store/head/head.ts";
import { NO_TROUBLES } from "../../lib/stack/store/head/troubles.ts";
import { encodePage } from "../../lib/stack/store/pages/codec.ts";
import { writePage } from "../../lib/stack/store/pages/pages.ts";
import { loadPages } from "../../lib/stack/sync/load/load-pages.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let world: World;
beforeEach(async () => {
  const engine = await startMemory();
  world = await newWorld(engine.client, engine.tables, { web: 2 });
});

/** A head that names one page, by a holder of `epoch` after a clean release or not. */
const headOf = (named: number, epoch: number, releasedEpoch = epoch - 1): Head => ({
  epoch,
  releasedEpoch,
  leaseUntilMs: 0,
  protocol: 1,
  dueDoneMs: 0,
  evaluatedMs: 0,
  nowMs: 0,
  specVersion: 0,
  writeNumber: 0,
  token: "",
  pageGeneration: 1,
  pages: [named],
  intents: [],
  uncounted: [],
  unreadable: [],
  troubles: NO_TROUBLES,
});

const written = (epoch: number) =>
  writePage(world.tables, {
    id: { partition: world.partition, generation: 1, index: 0 },
    epoch,
    body: encodePage([]),
  });

describe("a sync whose pages cannot be read", () => {
  it("has read its manifests for good: the next one of the environment reads none again", async () => {
    world.nowMs += PERIOD_MS;
    await world.sync();
    let [isFailing, converted] = [true, 0];
    const client = around(world.tables.client, async (command, send, input) => {
      if (isFailing && command === "GetItemCommand" && JSON.stringify(input).includes("page#"))
        throw new Error("the page cannot be read");
      return send();
    });
    const ports = world.worker({ tables: { ...world.tables, client } });
    const specOf: typeof ports.rules.specOf = (manifest) => {
      converted++;
      return ports.rules.specOf(manifest);
    };
    const counted = { ...ports, rules: { ...ports.rules, specOf } };
    world.nowMs += PERIOD_MS;
    await expect(world.sync(counted)).rejects.toThrow("the page cannot be read");
    expect(converted).toBe(1);
    isFailing = false;
    world.nowMs += 4 * PERIOD_MS;
    expect(await world.sync(counted)).toMatchObject({ kind: "completed", evaluated: 1 });
    expect(converted).toBe(1);
  });
});

describe("loadPages()", () => {
  it.each([
    ["as the head names it, after a clean release", 4, 6, 5, false],
    ["as the head names it, after an unclean one", 4, 6, 4, true],
    ["written by a holder that died before its release", 5, 6, 5, true],
    ["written under this very epoch", 6, 6, 5, true],
  ])(
    "reads a page %s, and says whether it must be written",
    async (_what, found, epoch, released, rewriteAll) => {
      await written(found);
      const loaded = await loadPages(world.tables, world.partition, headOf(4, epoch, released), []);
      expect(loaded).toMatchObject({
        rewriteAll,
        pages: [{ kind: "read", epoch: found, index: 0, generation: 1 }],
      });
    },
  );

  it("ends at a page of a later epoch: another holder claimed since", async () => {
    await written(7);
    await expect(loadPages(world.tables, world.partition, headOf(4, 6), [])).rejects.toMatchObject({
      name: "TidemarkError",
      code: "store.lease-lost",
      message: `Cannot load the windows of "${world.partition.cluster}/default": epoch is 7, not 6`,
      details: { mine: 6, found: 7 },
    });
  });

  it("takes a page from memory only after a clean release, of this generation and version", async () => {
    await written(4);
    const { pages } = await loadPages(world.tables, world.partition, headOf(4, 5), []);
    const reads: string[] = [];
    const client = around(world.tables.client, async (command, send) => {
      reads.push(command);
      return send();
    });
    const tables = { ...world.tables, client };
    await loadPages(tables, world.partition, headOf(4, 6), pages);
    expect(reads).toEqual([]);
    await loadPages(tables, world.partition, headOf(4, 6, 4), pages);
    await loadPages(tables, world.partition, headOf(3, 6), pages);
    await loadPages(tables, world.partition, headOf(4, 6), [
      { ...pages[0], generation: 0 } as (typeof pages)[number],
    ]);
    expect(reads).toEqual(["GetItemCommand", "GetItemCommand", "GetItemCommand"]);
  });
});

describe("a sync that is overtaken before it has read its pages", () => {
  it("is dropped as lost, and what the other did stands", async () => {
    await world.sync();
    let overtaken = false;
    // Past its lease while the page is on its way: another sync is done in between, whose page is
    // of a later epoch.
    const client = around(world.tables.client, async (command, send) => {
      if (
        command === "GetItemCommand" &&
        !overtaken &&
        (await world.head()).leaseUntilMs > world.nowMs
      ) {
        overtaken = true;
        world.nowMs += 3 * PERIOD_MS;
        workloadOf(world, "web").demand = 4;
        expect(await world.sync()).toMatchObject({
          kind: "completed",
          events: [{ to: 4, outcome: "applied" }],
        });
      }
      return send();
    });
    world.nowMs += PERIOD_MS;
    expect(await world.sync(world.worker({ tables: { ...world.tables, client } }))).toMatchObject({
      kind: "dropped",
      why: "lost",
    });
    expect([overtaken, workloadOf(world, "web").replicas]).toEqual([true, 4]);
    expect(await world.events()).toHaveLength(1);
  });
});
