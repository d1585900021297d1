import { QueryCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { specOf } from "../../lib/rules/manifest/admit.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { type CatchUpTurn, project } from "../../lib/stack/projections/project.ts";
import { PROJECTIONS } from "../../lib/stack/projections/projections.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { BIN_MS, sampleItem } from "../../lib/stack/projections/samples.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { storedForecasts } from "../../lib/stack/store/history/forecasts.ts";
import { forecastMarksPk, forecastsPk } from "../../lib/stack/store/table/keys.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { openQueries } from "../../lib/answers/service/open.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const manifest = (name: string, advice: object | "none"): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name, namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 2,
      maxReplicas: 40,
      metrics: [{ external: { metric: "jobs" }, measure: "Average", target: 10 }],
      ...(advice !== "none" && { advice }),
    },
  });
const ADVICE = { forecast: "floor", horizonMinutes: 0, quantile: "p50" };

/** Jobs of a day: 30 at midnight, 170 at noon. */
const jobsAt = (atMs: number): number =>
  Math.round(100 - 70 * Math.cos((2 * Math.PI * (atMs % DAY_MS)) / DAY_MS));

/** A quarter past noon, when the six hours before noon can be made. */
const LATER = NOON + 15 * MINUTE_MS;

/** A cluster whose autoscaler "web" has so many days of history until noon. */
const worldWith = async (
  advice: object | "none" = ADVICE,
  days = 6,
  replicas = 3,
): Promise<World> => {
  const manifestOf = (name: string): string => manifest(name, advice);
  const world = await newWorld(engine.client, engine.tables, { web: replicas }, { manifestOf });
  const { insert } = world.worker();
  for (let fromMs = NOON - days * DAY_MS; fromMs < NOON; fromMs += SIX_HOURS_MS) {
    const samples = Array.from({ length: SIX_HOURS_MS / BIN_MS }, (_, bin): Sample => {
      const atMs = fromMs + bin * BIN_MS;
      const metrics = [{ name: "jobs", value: String(jobsAt(atMs) / 5), target: "10" }];
      return { atMs, current: 5, ready: 5, min: 2, max: 40, metrics, reason: "WithinTarget" };
    });
    const slot = { fromMs, endMs: fromMs + SIX_HOURS_MS };
    const { partition } = world;
    await insert([sampleItem({ partition, page: 0, slot }, world.autoscaler("web"), samples)]);
  }
  world.nowMs = LATER;
  return world;
};

const specIn = (advice: object): AutoscalerSpec => specOf(manifest("web", advice), "shop/web");

const turnOf = (world: World, parts: Partial<CatchUpTurn> = {}): CatchUpTurn => {
  const { cluster, namespace, name, uid } = world.autoscaler("web");
  return {
    tables: world.tables,
    insert: world.worker().insert,
    cluster: world.record,
    partition: world.partition.partition,
    nowMs: world.nowMs,
    beforeMs: world.nowMs - HOUR_MS,
    untilMs: Number.POSITIVE_INFINITY,
    memory: {},
    advised: () => [{ cluster, namespace, name, uid, spec: specIn(ADVICE) }],
    ...parts,
  };
};

const stored = (world: World) => storedForecasts(world.tables, world.partition, world.nowMs);

const itemsUnder = async (world: World, pk: string) => {
  const { Items = [] } = await world.tables.client.send(
    new QueryCommand({
      TableName: world.tables.historyTable,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: pk } },
    }),
  );
  return Items;
};

const synced = async (world: World, ports = world.worker({ rules: PURE_PART })) => {
  world.nowMs += PERIOD_MS;
  const report = await world.sync({ ...ports, rules: PURE_PART });
  if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
  return report;
};

describe("the forecasts of a partition", () => {
  it("are made after six hours, from the samples of the days before", async () => {
    const world = await worldWith();
    expect(await project(turnOf(world), PROJECTIONS)).toEqual([]);
    const forecast = (await stored(world)).get(world.autoscaler("web").uid);
    expect(forecast).toMatchObject({ fromMs: NOON, without: [] });
    // In thousandths: the demand of 12:00 to 12:15, of which a pod takes 10.
    const [demand] = forecast?.demands ?? [];
    expect(demand?.points[0]).toBeCloseTo(jobsAt(NOON) * 1_000, -3);
    expect(demand?.points[24]).toBeCloseTo(jobsAt(NOON + SIX_HOURS_MS) * 1_000, -4);
  });

  it("say of a short history that it is too short", async () => {
    const world = await worldWith(ADVICE, 1);
    await project(turnOf(world), PROJECTIONS);
    expect((await stored(world)).get(world.autoscaler("web").uid)).toEqual({
      fromMs: NOON,
      demands: [],
      without: [{ metric: "jobs", why: "too short" }],
    });
  });

  it("are the same where they are made again, after a death before the mark and by another environment", async () => {
    const world = await worldWith();
    const { insert } = world.worker();
    let inserts = 0;
    const dying: CatchUpTurn["insert"] = async (items) => {
      const isMark = items.some(({ pk }) => pk === forecastMarksPk(world.partition));
      if (isMark) throw new Error("died");
      inserts += items.length;
      return insert(items);
    };
    const [state] = await project(turnOf(world, { insert: dying }), PROJECTIONS);
    expect(state).toMatchObject({ name: "forecasts", failure: "died" });
    const before = await itemsUnder(world, forecastsPk(world.partition));
    expect(before).toHaveLength(1);
    expect(await project(turnOf(world), PROJECTIONS)).toEqual([]);
    expect(await itemsUnder(world, forecastsPk(world.partition))).toEqual(before);
    expect(await project(turnOf(world, { insert: dying }), PROJECTIONS)).toEqual([]);
    expect(inserts).toBe(1);
  });

  it("cost nothing where no manifest takes advice", async () => {
    const world = await worldWith("none");
    const asked: string[] = [];
    const client: World["tables"]["client"] = {
      send: (command: Parameters<World["tables"]["client"]["send"]>[0]) => {
        asked.push(JSON.stringify(command.input));
        return world.tables.client.send(command as never);
      },
    } as never;
    const ports = world.worker({ tables: { ...world.tables, client } });
    await synced(world, ports);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((input) => input.includes("forecast"))).toEqual([]);
  });
});

const decided = async (world: World) => {
  const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
  return page?.evaluations[0];
};

describe("a sync", () => {
  it("makes the forecast, and raises the count to it from the next reading of manifests on", async () => {
    const world = await worldWith();
    await synced(world);
    expect(workloadOf(world, "web").replicas).toBe(3);
    // Another environment reads the manifests, and the forecast that was made.
    const report = await synced(world);
    expect(workloadOf(world, "web").replicas).toBe(17);
    expect(report.projections).toEqual([]);
    expect(await decided(world)).toMatchObject({
      because: {
        reason: "ForecastMinimum",
        message: expect.stringContaining(
          "minReplicas is 17 by the forecast: p50 of jobs at 2026-03-01T12:15:00Z",
        ),
      },
      bounds: { min: 17, minBy: { kind: "forecast" }, forecast: { kind: "floor", replicas: 17 } },
    });
  });

  it("raised by a forecast is told by `get` and `describe` as it was decided", async () => {
    const world = await worldWith();
    const { tables } = world;
    const service = openQueries({ tables, clock: () => world.nowMs });
    const told = async () => {
      const { cluster } = world.partition;
      const { bounds } = await service.describe({ name: `${cluster}/shop/web` });
      const [row] = await Array.fromAsync(service.autoscalers({ cluster }));
      expect(row?.bounds).toEqual(bounds);
      return bounds;
    };
    await synced(world);
    expect(await told()).toMatchObject({
      min: { replicas: 2, by: { kind: "manifest" } },
      forecast: { text: "no forecast is stored yet: forecasts are made every six hours" },
    });
    await synced(world);
    expect(await told()).toMatchObject({
      min: {
        replicas: 17,
        by: { kind: "forecast", metric: "jobs", at: "2026-03-01T12:15:00.000Z" },
      },
      max: { replicas: 40, by: { kind: "manifest" } },
      forecast: { replicas: 17 },
    });
  });

  it("goes by no forecast that is twelve hours old, and says so", async () => {
    const world = await worldWith(ADVICE, 6, 17);
    await synced(world);
    world.nowMs = NOON + 12 * HOUR_MS;
    await synced(world);
    expect((await decided(world))?.bounds).toMatchObject({
      min: 2,
      forecast: { kind: "absent", why: "too old" },
    });
    expect(workloadOf(world, "web").replicas).toBe(17);
  });

  it("goes on where forecasts cannot be read, says so in its line and its decision, and keeps those that it had", async () => {
    const world = await worldWith();
    await project(turnOf(world), PROJECTIONS);
    const client: World["tables"]["client"] = {
      send: (command: Parameters<World["tables"]["client"]["send"]>[0]) =>
        JSON.stringify(command.input).includes("forecast#")
          ? Promise.reject(new Error("throttled"))
          : world.tables.client.send(command as never),
    } as never;
    const ports = world.worker({ tables: { ...world.tables, client } });
    const { projections }: CompletedSync = await synced(world, ports);
    expect(projections).toContainEqual({
      name: "forecasts",
      behindSeconds: 0,
      failure: expect.stringContaining("throttled"),
    });
    expect((await decided(world))?.bounds?.forecast).toEqual({ kind: "absent", why: "not read" });
    expect(workloadOf(world, "web").replicas).toBe(3);
  });
});
