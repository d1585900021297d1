import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partitionName } from "../../lib/rules/model/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { type Projection, project, type CatchUpTurn } from "../../lib/stack/projections/project.ts";
import { PROJECTIONS } from "../../lib/stack/projections/projections.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { SAMPLES, storedSamples } from "../../lib/stack/projections/samples.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { closedDays, eventCalendar } from "../../lib/stack/store/history/event-calendar.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { dayEventKey, utcDate } from "../../lib/stack/store/table/keys.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { event } from "../store/records.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** So long after a sync its six hours can be made. */
const SETTLED_MS = SIX_HOURS_MS + 15 * MINUTE_MS;

/** Syncs for so many periods. */
const syncedFor = async (
  world: World,
  periods: number,
  ports = world.worker(),
): Promise<readonly CompletedSync[]> => {
  const reports: CompletedSync[] = [];
  for (let at = 0; at < periods; at++) {
    world.nowMs += PERIOD_MS;
    const report = await world.sync(ports);
    if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
    reports.push(report);
  }
  return reports;
};

const samplesOf = (world: World, name = "web") =>
  storedSamples(world.tables, world.autoscaler(name), { sinceMs: 0, untilMs: world.nowMs });

const added = (world: World, insert: CatchUpTurn["insert"], verb = "add", before?: object) =>
  insertScopeChange(insert, {
    id: verb,
    scope: "cluster",
    name: world.record.name,
    verb: verb as "add",
    version: 1,
    atMs: world.nowMs,
    by: "ada",
    ...(before && { before: JSON.stringify(before) }),
  });

/** A turn beside the syncs of a world, in an environment of its own. */
const turnOf = (world: World, parts: Partial<CatchUpTurn> = {}): CatchUpTurn => ({
  tables: world.tables,
  insert: world.worker().insert,
  cluster: world.record,
  partition: world.partition.partition,
  nowMs: world.nowMs,
  beforeMs: world.nowMs - HOUR_MS,
  untilMs: Number.POSITIVE_INFINITY,
  memory: {},
  ...parts,
});

describe("a projection", () => {
  it("is made by syncs that all take 12 s, as beside a slow source", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const cluster = world.worker();
    const client = await cluster.connect(world.record);
    const slow = world.worker({
      connect: async () => ({
        ...client,
        observe: async (...asked) => {
          const seen = await client.observe(...asked);
          world.nowMs += 12_000;
          return seen;
        },
      }),
    });
    const next = async (): Promise<void> => {
      world.nowMs = (Math.floor(world.nowMs / PERIOD_MS) + 1) * PERIOD_MS;
      await world.sync(slow);
    };
    for (let syncs = 0; syncs < 8; syncs++) await next();
    world.nowMs += SETTLED_MS;
    for (let syncs = 0; syncs < 90; syncs++) await next();
    expect((await samplesOf(world)).length).toBeGreaterThan(0);
  });

  it("for which no sync has time says how far it is behind, and is made once one has", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const ports = world.worker();
    await syncedFor(world, 8, ports);
    world.nowMs += 4 * DAY_MS;
    const late = turnOf(world, { untilMs: world.nowMs });
    const [state] = await project(late, PROJECTIONS);
    expect(state).toMatchObject({ name: "samples" });
    expect(state?.behindSeconds).toBeGreaterThan((3.5 * DAY_MS) / 1_000);
    expect(await samplesOf(world)).toEqual([]);
    expect(await project({ ...late, ...turnOf(world) }, PROJECTIONS)).toEqual([]);
    expect((await samplesOf(world)).length).toBeGreaterThan(0);
  });

  it("has what a partition wrote that was renamed since, and one that was divided: the first partition of the cluster makes it", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const ports = world.worker();
    await syncedFor(world, 8, ports);
    const { record } = world;
    const renamed = {
      ...record,
      version: 2,
      partitions: [{ name: partitionName("left") }, { name: partitionName("right") }],
    };
    await added(world, ports.insert, "edit", record);
    await putCluster(world.tables, renamed, record.version);
    world.nowMs += SETTLED_MS;
    const partition = partitionName("left");
    for (let syncs = 0; syncs < 60; syncs++) {
      world.nowMs += PERIOD_MS;
      const report = await sync(ports, {
        cluster: record.name,
        partition,
        dueMs: world.nowMs,
        periodMs: PERIOD_MS,
      });
      expect(report).toMatchObject({ kind: "completed", projections: [] });
    }
    const samples = await samplesOf(world);
    expect(samples.length).toBeGreaterThan(0);
    // The second partition leaves it to the first.
    const items: HistoryItem[] = [];
    const watched = turnOf(world, {
      cluster: renamed,
      partition: partitionName("right"),
      insert: async (some) => {
        items.push(...some);
        return some.map(() => ({ kind: "inserted" as const }));
      },
    });
    expect(await project(watched, PROJECTIONS)).toEqual([]);
    expect(items).toEqual([]);
  });

  it("waits until every sync of its time has ended, and has what the last one wrote", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    await syncedFor(world, 8);
    const endMs = SAMPLES.slots.endOf(SAMPLES.slots.beginOf(world.nowMs));
    world.nowMs = endMs - 2 * PERIOD_MS;
    const early = turnOf(world, { nowMs: endMs + 30_000 });
    expect(await project(early, PROJECTIONS)).toEqual([]);
    await syncedFor(world, 1);
    const lastMs = world.nowMs;
    expect(lastMs).toBeLessThan(endMs);
    world.nowMs += SETTLED_MS;
    await project(turnOf(world), PROJECTIONS);
    expect((await samplesOf(world)).at(-1)?.atMs).toBe(lastMs);
  });

  it("has every journal page of its time, also those of a partition that has fewer now", async () => {
    const names = Array.from({ length: 150 }, (_, at) => `app-${at}`);
    const world = await newWorld(
      engine.client,
      engine.tables,
      Object.fromEntries(names.map((name) => [name, 2])),
      { timing: { pageEntries: 6 } },
    );
    await syncedFor(world, 8);
    world.nowMs += SETTLED_MS;
    const pks = new Set<string>();
    const turn = turnOf(world);
    await project(
      {
        ...turn,
        insert: async (items) => {
          for (const { pk, sk } of items) if (sk.startsWith("rollup#")) pks.add(pk);
          return turn.insert(items);
        },
      },
      PROJECTIONS,
    );
    expect(pks.size).toBe(150);
  });

  it("that cannot be made ends no sync: its line names the projection, and the next one makes it", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const insert = world.worker().insert;
    await added(world, insert);
    let failing = true;
    const ports = world.worker({
      insert: async (items) => {
        if (failing && items.some(({ pk }) => pk.startsWith("days#"))) throw new Error("no room");
        return insert(items);
      },
    });
    await syncedFor(world, 4, ports);
    world.nowMs += 5 * DAY_MS;
    const [failed] = await syncedFor(world, 1, ports);
    const days = failed?.projections.find(({ name }) => name === "days");
    expect(days).toMatchObject({ failure: "no room" });
    expect(days?.behindSeconds).toBeGreaterThan(0);
    failing = false;
    const later = await syncedFor(world, 5, ports);
    expect(later.at(-1)?.projections).toEqual([]);
    const stretch = { sinceMs: 0, untilMs: world.nowMs };
    expect((await closedDays(world.tables, world.record.name, stretch)).size).toBe(3);
  });

  it("that is behind by months goes on in the next minute of the same environment", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const ports = world.worker();
    await added(world, ports.insert);
    await syncedFor(world, 4, ports);
    world.nowMs += 100 * DAY_MS;
    const first = await syncedFor(world, 1, ports);
    expect(first[0]?.projections.map(({ name }) => name)).toContain("days");
    const reports = await syncedFor(world, 12, ports);
    expect(reports.at(-1)?.projections).toEqual([]);
    const calendar = await eventCalendar(world.tables, world.record.name, {
      sinceMs: world.nowMs - 100 * DAY_MS,
      untilMs: world.nowMs,
    });
    expect(calendar.days.filter(({ counts }) => counts === undefined).length).toBeLessThan(5);
  });

  it("passes over a day with an event that cannot be read, which is asked for its events, and goes on", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const ports = world.worker();
    await added(world, ports.insert);
    const atMs = world.nowMs + DAY_MS;
    const [stored] = await insertEvents(ports.insert, [
      event({ cluster: world.record.name, atMs, settledMs: atMs }),
    ]);
    if (!stored) throw new Error("there is no event");
    const key = dayEventKey(world.record.name, stored);
    await world.tables.client.send(
      new PutItemCommand({
        TableName: world.tables.historyTable,
        Item: {
          pk: { S: key.pk },
          sk: { S: key.sk },
          ttl: { N: "9999999999" },
          body: { B: Buffer.of(0x7f, 1, 2) },
        },
      }),
    );
    world.nowMs += 6 * DAY_MS;
    await project(turnOf(world), PROJECTIONS);
    const closed = await closedDays(world.tables, world.record.name, {
      sinceMs: 0,
      untilMs: world.nowMs,
    });
    const days = [0, 1, 2, 3].map((day) => utcDate(world.nowMs - (6 - day) * DAY_MS));
    expect(days.map((day) => closed.has(day))).toEqual([true, false, true, true]);
  });

  it("is the same after turns that died at any of their calls, and after two at once", async () => {
    const made = async (diesAt: number | undefined, twice = false) => {
      const world = await newWorld(engine.client, engine.tables, { web: 3, api: 2 });
      workloadOf(world, "web").demand = 7;
      const ports = world.worker();
      await added(world, ports.insert);
      await syncedFor(world, 12, ports);
      world.nowMs += 4 * DAY_MS;
      let calls = 0;
      const dying = async (items: readonly HistoryItem[]) => {
        calls += 1;
        if (calls === diesAt) {
          await ports.insert(items.slice(1));
          throw new Error("the call died");
        }
        return ports.insert(items);
      };
      const turn = turnOf(world, { insert: dying });
      await Promise.all(
        (twice ? [turn, turnOf(world)] : [turn]).map((one) => project(one, PROJECTIONS)),
      );
      await project(turnOf(world), PROJECTIONS);
      const closed = await closedDays(world.tables, world.record.name, {
        sinceMs: 0,
        untilMs: world.nowMs,
      });
      return {
        calls,
        found: [await samplesOf(world), await samplesOf(world, "api"), [...closed]],
      };
    };
    const whole = await made(undefined);
    expect(whole.calls).toBeGreaterThan(3);
    expect(whole.found.every((part) => part.length > 0)).toBe(true);
    for (let call = 1; call <= whole.calls; call++)
      expect((await made(call)).found).toEqual(whole.found);
    expect((await made(undefined, true)).found).toEqual(whole.found);
  });

  it("that is made costs no request: an environment that knows looks at nothing", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    await syncedFor(world, 8);
    world.nowMs += SETTLED_MS;
    const memory = {};
    await project(turnOf(world, { memory }), PROJECTIONS);
    const untouchable = {
      ...world.tables,
      client: {
        send: async () => {
          throw new Error("a request was sent");
        },
      } as unknown as CatchUpTurn["tables"]["client"],
    };
    const later = turnOf(world, { memory, tables: untouchable, nowMs: world.nowMs + HOUR_MS });
    expect(await project(later, PROJECTIONS)).toEqual([]);
    // One that does not know looks every ten minutes, and not in the minutes between.
    const fresh = { tables: untouchable, beforeMs: world.nowMs, nowMs: world.nowMs + MINUTE_MS };
    expect(await project(turnOf(world, fresh), PROJECTIONS)).toEqual([]);
  });

  it("that throws something of its own is a failure in the line, and the others are made", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 3 });
    const [samples] = PROJECTIONS;
    if (!samples) throw new Error("there is no projection");
    const broken: Projection = {
      ...samples,
      name: "broken",
      places: () => Promise.reject(new TypeError("a mistake")),
    };
    expect(await project(turnOf(world), [broken, ...PROJECTIONS])).toEqual([
      { name: "broken", behindSeconds: 0, failure: "a mistake" },
    ]);
  });
});
