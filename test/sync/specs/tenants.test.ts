import { createCipheriv } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import { changesOf } from "../../../lib/stack/store/history/changes.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { journalOfPage } from "../../../lib/stack/store/history/journal.ts";
import { NAMESPACE_BYTES_MAX } from "../../../lib/stack/store/records/stored-bytes.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import { SYNC_BYTES_MAX } from "../../../lib/stack/sync/specs/store-room.ts";
import { type Engine, startDynalite, startMemory } from "../../contracts/engines.ts";
import { around } from "../../contracts/faults.ts";
import { type Consumed, metered, nothingConsumed } from "../../contracts/metered.ts";
import { demandRules } from "../demand-rules.ts";
import { collected, PERIOD_MS } from "../world.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";
import type { Evaluation } from "../../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const OTHERS = ["web", "api", "jobs", "mail"] as const;
const HOUR_MS = 3_600_000;

const specOf = (target: string, maxReplicas: number, parts: object = {}): object => ({
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: target },
  minReplicas: 1,
  maxReplicas,
  metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }],
  ...parts,
});

/** 80 KB that do not shrink, and are others for each object and edit. */
const noise = (seed: number): string => {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(ZEROS).toString("base64");
};
const ZEROS = Buffer.alloc(60_000);

/** Objects of another namespace, which come before those of "shop" in every LIST. */
const attack = (
  world: SpecsWorld,
  count: number,
  object: (at: number) => { readonly spec?: object; readonly labels?: object },
): void => {
  for (let at = 0; at < count; at++) {
    const { spec = specOf("nothing", 10), labels = {} } = object(at);
    world.apply(`a-${at}`, { spec, metadata: { name: `a-${at}`, namespace: "attack", labels } });
  }
};

/** What the newest journal page says of an autoscaler. */
const told = async (world: SpecsWorld, name: string): Promise<Evaluation | undefined> =>
  (
    await collected(
      journalOfPage(world.tables, world.partition, { page: 0, sinceMs: 0, untilMs: world.nowMs }),
    )
  )
    .flatMap(({ evaluations }) => evaluations)
    .findLast((one) => one.name === name);

/** What the autoscalers of the other namespace decide and what they do, in so many syncs. */
const othersIn = async (
  syncs: number,
  happens: (world: SpecsWorld, sync: number) => void,
): Promise<{ readonly scaled: number; readonly decided: readonly string[] }> => {
  const world = await specsWorld(engine, OTHERS, ["PodAutoscaler"]);
  const decided: string[] = [];
  const rules = { ...demandRules(world.cluster), specOf: PURE_PART.specOf };
  const warm = world.cold({
    rules: {
      ...rules,
      decide: (input) => {
        const decision = rules.decide(input);
        if (input.namespace === "shop")
          decided.push(
            JSON.stringify(
              { name: input.name, spec: input.spec, observation: input.observation, decision },
              (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value),
            ),
          );
        return decision;
      },
    },
  });
  for (let sync = 0; sync < syncs; sync++) {
    happens(world, sync);
    if (sync === 0) for (const name of OTHERS) world.apply(name, { uid: `object-of-${name}` });
    await world.next(warm);
  }
  return { scaled: OTHERS.filter((name) => world.replicas(name) === 5).length, decided };
};

describe("objects of one namespace", () => {
  it.each([
    [
      "10,000 new objects",
      2,
      (world: SpecsWorld, sync: number) => sync === 0 && attack(world, 10_000, () => ({})),
    ],
    [
      "200 objects that are edited before each sync",
      6,
      (world: SpecsWorld, sync: number) =>
        attack(world, 200, () => ({ spec: specOf("nothing", 10 + sync) })),
    ],
    [
      "200 objects of 80 KB that are edited before each sync",
      6,
      (world: SpecsWorld, sync: number) =>
        attack(world, 200, (at) => ({ spec: specOf("nothing", 10 + sync, { owner: noise(at) }) })),
    ],
    [
      "140 objects with annotations of 250 KB",
      3,
      (world: SpecsWorld, sync: number) => {
        for (let at = 0; at < 140; at++)
          world.apply(`a-${at}`, {
            spec: specOf("nothing", 10),
            metadata: {
              name: `a-${at}`,
              namespace: "attack",
              annotations: { note: `${sync}`.repeat(250_000) },
            },
          });
      },
    ],
  ] as const)(
    "never keep those of another waiting: %s, and the others scale 4 of 4 in the first sync and decide the same",
    { timeout: 120_000 },
    async (_what, syncs, happens) => {
      const control = await othersIn(syncs, () => {});
      const beside = await othersIn(syncs, happens);
      expect([control.scaled, beside.scaled]).toEqual([4, 4]);
      expect(beside.decided).toEqual(control.decided);
    },
  );

  it("that use the bytes of their namespace are the only ones that hold, and their reason names the namespace, the value, the limit and the time", {
    timeout: 60_000,
  }, async () => {
    const world = await specsWorld(engine, OTHERS, ["PodAutoscaler"]);
    for (const name of OTHERS) world.apply(name);
    attack(world, 100, (at) => ({ spec: specOf("nothing", 10, { owner: noise(at) }) }));
    let report = await world.next();
    for (let syncs = 0; syncs < 6; syncs++) report = await world.next();
    expect(report).toMatchObject({ specsOverBudget: expect.any(Number) });
    expect(JSON.stringify(report)).toContain(
      'changed objects are not stored: namespace \\"attack\\" has used',
    );
    world.nowMs += STORED_EVERY_MS;
    attack(world, 100, (at) => ({ spec: specOf("nothing", 10, { owner: noise(at + 1_000) }) }));
    world.apply("web", { spec: specOf("web", 20) });
    await world.next(world.cold());
    expect(await told(world, "a-1")).toMatchObject({
      kind: "hold",
      because: {
        reason: "SpecOverBudget",
        message: expect.stringMatching(
          /^namespace "attack" has used \d{7} bytes for changes of its objects within an hour, and the limit is 8000000: this change is stored from 20\S+Z on; edit fewer objects, less often, or make them smaller$/,
        ),
      },
    });
    expect((await world.records()).find(({ name }) => name === "web")).toMatchObject({
      origin: { generation: 2 },
    });
    // What `status` shows, and the function that plans counts for the alarm.
    expect((await world.head()).troubles.of.overShare).toMatchObject({ first: "attack" });
    // An hour later all of it was given back.
    world.nowMs += HOUR_MS;
    expect(await world.next(world.cold())).toMatchObject({ specsOverBudget: 0 });
  });

  it("cost no more than the bytes of their namespace in any hour, though each is edited before each sync, the syncs die and environments are cold", {
    timeout: 120_000,
  }, async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    let written = 0;
    const counting = around(world.tables.client, async (_command, send, input) => {
      written += recordBytes(input) + bodyBytes(input);
      return send();
    });
    for (let sync = 0; sync < 16; sync++) {
      attack(world, 60, (at) => ({
        spec: specOf("nothing", 10, { owner: noise(at + 100 * sync) }),
      }));
      let calls = 0;
      const client = around(counting, async (_command, send) => {
        calls += 1;
        if (sync % 4 === 3 && calls > 40) throw new Error("the process has died");
        return send();
      });
      const tables = { ...world.tables, client };
      await world.next(world.cold({ tables, insert: insertByStatement(tables) })).catch(() => {});
      if (sync % 4 === 3) world.nowMs += 4 * PERIOD_MS;
    }
    expect(written).toBeGreaterThan(NAMESPACE_BYTES_MAX / 4);
    // And a sixth is given back in the ten minutes that pass.
    expect(written).toBeLessThan(NAMESPACE_BYTES_MAX * (1 + 1 / 6));
  });
});

describe("an object that is edited before each sync", () => {
  it("is stored once a minute, the newest edit wins, and every generation that is skipped leaves no change", async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    const generations: (number | undefined)[] = [];
    for (let sync = 0; sync < 9; sync++) {
      world.apply("web", { spec: specOf("web", 10 + sync) });
      await world.next(sync % 2 === 0 ? undefined : world.cold());
      generations.push((await world.records())[0]?.origin?.generation);
    }
    expect(generations).toEqual([1, 1, 1, 1, 5, 5, 5, 5, 9]);
    const ref = {
      cluster: world.record.name,
      namespace: namespace("shop"),
      name: autoscalerName("web"),
    };
    const stored = (await collected(changesOf(world.tables, ref))).map(
      ({ after = "" }) => (JSON.parse(after) as { spec: { maxReplicas: number } }).spec,
    );
    expect(stored.map(({ maxReplicas }) => maxReplicas)).toEqual([10, 14, 18]);
  });

  it("is followed by its stored spec until then, which the status and the journal say", async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    world.apply("web", { uid: "object-waits" });
    await world.next();
    world.apply("web", { spec: specOf("web", 20) });
    for (const workload of world.cluster.workloads.values()) workload.demand = 7;
    await world.next();
    expect(world.replicas("web")).toBe(7);
    const waiting = {
      reason: "SpecWaits",
      message: expect.stringMatching(
        /^the PodAutoscaler was edited \(generation 2\), .* until then generation 1 is followed/,
      ),
    };
    expect(await told(world, "web")).toMatchObject({ kind: "scale", to: 7, waiting });
    expect(await world.events()).toMatchObject(
      [
        { specGeneration: 1, to: 7 },
        { specGeneration: 1, to: 5 },
      ].toSorted((one, other) => one.to - other.to),
    );
  });

  it.each([
    ["a smaller maxReplicas", specOf("web", 6), "its maxReplicas is 6, and 7 were wanted"],
    ["another target", specOf("api", 10), 'its target is Deployment "api"'],
    ["a dry run", specOf("web", 10, { dryRun: true }), "it is a dry run"],
    ["a pause", specOf("web", 10, { pausedUntil: "2099-01-01T00:00:00Z" }), "it is paused"],
    ["an invalid spec", specOf("web", 0), "it is invalid"],
  ])("does nothing that the newest edit forbids: %s", async (_what, spec, why) => {
    const world = await specsWorld(engine, ["web", "api"], ["PodAutoscaler"]);
    world.apply("web");
    await world.next();
    world.apply("web", { spec });
    for (const workload of world.cluster.workloads.values()) workload.demand = 7;
    await world.next();
    expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 2]);
    expect(await told(world, "web")).toMatchObject({
      kind: "hold",
      because: { reason: "SpecWaits", message: expect.stringContaining(why) },
    });
  });

  it("is not read from the tables again by the environment that has stored it", async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    world.apply("web");
    let queries = 0;
    const client = around(world.tables.client, async (_command, send, input) => {
      if (
        JSON.stringify(input).includes("autoscalers#") &&
        JSON.stringify(input).includes("KeyConditionExpression")
      )
        queries += 1;
      return send();
    });
    const warm = world.cold({ tables: { ...world.tables, client } });
    await world.next(warm);
    const first = queries;
    for (let minutes = 0; minutes < 3; minutes++) {
      world.nowMs += STORED_EVERY_MS;
      world.apply("web", { spec: specOf("web", 20 + minutes) });
      await world.next(warm);
    }
    expect([first, queries]).toEqual([1, 1]);
    expect(await world.records()).toMatchObject([{ generation: 4 }]);
  });
});

describe("tables that are slow to store", () => {
  it("end the storing after a share of the sync, the others have their turn later, and the bytes that were not written are given back", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `web-${at}`);
    const world = await specsWorld(engine, names, ["PodAutoscaler"]);
    for (const name of names) world.apply(name);
    const client = around(world.tables.client, async (command, send) => {
      if (command === "PutItemCommand") world.nowMs += 100;
      return send();
    });
    const tables = { ...world.tables, client };
    const dueMs = world.nowMs;
    const report = await world.next(world.cold({ tables, insert: insertByStatement(tables) }));
    expect(JSON.stringify(report)).toMatch(/\d\d new objects wait for the next sync/);
    const stored = (await world.records()).length;
    expect(stored).toBeGreaterThan(8);
    expect(stored).toBeLessThan(30);
    expect(names.filter((name) => world.replicas(name) === 5)).toHaveLength(stored);
    world.nowMs = dueMs + 2 * PERIOD_MS;
    await world.next(world.cold());
    expect((await world.records()).length).toBe(60);
  });
});

describe("the cost of 200 objects of 80 KB that are edited before each sync", () => {
  it("is bounded in each sync and in each hour, in write units and in bytes of history", {
    timeout: 300_000,
  }, async () => {
    const dynalite = await startDynalite();
    try {
      const world = await specsWorld(dynalite, OTHERS, ["PodAutoscaler"]);
      let consumed: Consumed = nothingConsumed();
      let historyBytes = 0;
      const client = around(
        metered(dynalite.client, () => consumed),
        async (_command, send, input) => {
          historyBytes += bodyBytes(input);
          return send();
        },
      );
      const tables = { ...world.tables, client };
      const warm = world.cold({ tables, insert: insertByStatement(tables) });
      for (const name of OTHERS) world.apply(name);
      const syncs: { readonly units: number; readonly historyBytes: number }[] = [];
      for (let sync = 0; sync < 10; sync++) {
        attack(world, 200, (at) => ({ spec: specOf("nothing", 10 + sync, { owner: noise(at) }) }));
        consumed = nothingConsumed();
        historyBytes = 0;
        await world.next(warm);
        syncs.push({
          units: [...consumed.writeUnits.values()].reduce((sum, units) => sum + units, 0),
          historyBytes,
        });
      }
      const most = Math.max(...syncs.map(({ units }) => units));
      const all = syncs.reduce((sum, { units }) => sum + units, 0);
      const bytes = syncs.reduce((sum, one) => sum + one.historyBytes, 0);
      const last = syncs.at(-1);
      const figures = `most ${most}, all ${all}, history ${bytes}, last ${JSON.stringify(last)}`;
      expect(most, figures).toBeLessThan((SYNC_BYTES_MAX / 1_000) * 1.5);
      expect(all, figures).toBeLessThan((NAMESPACE_BYTES_MAX / 1_000) * 1.5);
      expect(last?.units, figures).toBeLessThan(400);
    } finally {
      await dynalite.close();
    }
  });
});

/** Bytes of the manifest in the put of a record. */
const recordBytes = (input: unknown): number =>
  (input as { readonly Item?: { readonly manifest?: { readonly S: string } } }).Item?.manifest?.S
    .length ?? 0;

/** Bytes of the bodies in inserts of history. */
const bodyBytes = (input: unknown): number => {
  const { Statements = [] } = input as {
    readonly Statements?: readonly {
      readonly Parameters: readonly { readonly B?: Uint8Array }[];
    }[];
  };
  return Statements.reduce((sum, { Parameters }) => sum + (Parameters[3]?.B?.length ?? 0), 0);
};
