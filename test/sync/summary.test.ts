import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import type { AutoscalerRecord } from "../../lib/rules/model/records.ts";
import type { SummaryRow } from "../../lib/rules/model/summary.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import {
  decodeHeadSummary,
  type HeadSummary,
  decodeIndex,
  derivedItemOf,
  readSummary,
} from "../../lib/stack/store/summary/summary-items.ts";
import { decodeSummary, summaryKeyOf } from "../../lib/stack/store/summary/summary-codec.ts";
import { batchGet } from "../../lib/stack/store/table/read-many.ts";
import { indexKey } from "../../lib/stack/store/table/keys.ts";
import { hasSameIndex } from "../../lib/stack/sync/summary/same-index.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { autoscalerRecord, newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { LoadedSpec, LoadedSpecs } from "../../lib/stack/sync/hand-over.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const next = (world: World, ports = world.worker()) => {
  world.nowMs += PERIOD_MS;
  return world.sync(ports);
};

const stated = async (world: World): Promise<HeadSummary> => {
  const summary = decodeHeadSummary((await world.head()).summary);
  if (!summary) throw new Error("the head has no summary");
  return summary;
};

/** The row of an autoscaler as a reader puts it together. */
const rowOf = async (world: World, name: string): Promise<SummaryRow | undefined> => {
  const key = summaryKeyOf(autoscalerUid(`uid-${name}`));
  const item = await readSummary(world.tables, world.partition);
  const whole = item && decodeSummary(item.body);
  return [...(whole?.rows ?? []), ...(await stated(world)).rows].findLast((row) => row.key === key);
};

const indexOf = async (world: World) => {
  const [item] = await batchGet(world.tables, "look", [indexKey(world.partition)], {
    consistent: true,
  });
  const derived = derivedItemOf(item);
  return derived && { epoch: derived.epoch, ...decodeIndex(derived.body) };
};

describe("the summary of a partition", () => {
  it("is written whole in the first sync of a minute; what changes within it is in the head, and nothing is written where nothing changed", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4, api: 4 });
    const warm = world.worker();
    await next(world, warm);
    await next(world, warm);
    expect(await stated(world)).toMatchObject({ baseEpoch: 1, autoscalers: 2 });
    await next(world, warm);
    await next(world, warm);
    const first = await stated(world);
    expect(first).toMatchObject({ baseEpoch: 4, changedEpoch: 4, rows: [] });
    await next(world, warm);
    expect(await stated(world)).toMatchObject({ baseEpoch: 4, changedEpoch: 4, rows: [] });
    workloadOf(world, "web").demand = 6;
    await next(world, warm);
    const changed = await stated(world);
    expect(changed).toMatchObject({ baseEpoch: 4, changedEpoch: 6 });
    expect(changed.rows.map(({ key }) => key)).toEqual([summaryKeyOf(autoscalerUid("uid-web"))]);
    expect(await rowOf(world, "web")).toMatchObject({
      current: 4,
      desired: 6,
      totals: { ups: 1, added: 2 },
    });
    await next(world, warm);
    expect(await rowOf(world, "web")).toMatchObject({ current: 6, desired: 6 });
    expect(await rowOf(world, "api")).toMatchObject({ current: 4, state: "active" });
  });

  it("goes on in an environment that knows nothing, with what was refused and since when", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    await next(world);
    await next(world);
    world.cluster.faults.push(...Array.from({ length: 7 }, () => "denied" as const));
    workloadOf(world, "web").demand = 6;
    await next(world);
    const refusedMs = world.nowMs;
    expect(await rowOf(world, "web")).toMatchObject({
      since: { refused: refusedMs },
      totals: { refusedUps: 1, ups: 0 },
    });
    for (let syncs = 0; syncs < 6; syncs++) await next(world);
    expect(await rowOf(world, "web")).toMatchObject({
      since: { refused: refusedMs },
      totals: { refusedUps: 7 },
    });
    expect((await stated(world)).problems).toEqual({
      refused: { autoscalers: 1, lasting: 0, oldestMs: refusedMs },
    });
    await next(world);
    expect((await rowOf(world, "web"))?.since).toBeUndefined();
    expect(await rowOf(world, "web")).toMatchObject({ totals: { refusedUps: 7, ups: 1 } });
  });

  it("that cannot be written stops no sync, is reported, and is written by the next sync", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    await next(world);
    let failing = true;
    const client = around(engine.client, async (command, send, input) => {
      if (
        failing &&
        command === "PutItemCommand" &&
        (input as { Item?: { sk?: { S?: string } } }).Item?.sk?.S === "summary"
      )
        throw Object.assign(new Error("throttled"), { name: "ThrottlingException" });
      return send();
    });
    const ports = world.worker({ tables: { ...world.tables, client } });
    world.nowMs += 60_000;
    const report = await next(world, ports);
    expect(report).toMatchObject({
      kind: "completed",
      projections: [
        { name: "rows", behindSeconds: 0, failure: expect.stringContaining("write the summary") },
      ],
    });
    expect(await stated(world)).toMatchObject({ baseEpoch: 1 });
    failing = false;
    await next(world, ports);
    expect(await stated(world)).toMatchObject({ baseEpoch: 3 });
  });

  it("has an index of names that is written again after an edit, and not otherwise", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 });
    const warm = world.worker();
    await next(world, warm);
    expect(await indexOf(world)).toMatchObject({
      epoch: 1,
      specVersion: 0,
      rows: [{ namespace: "shop", name: "web", uid: "uid-web" }],
    });
    await next(world, warm);
    await next(world);
    expect(await indexOf(world)).toMatchObject({ epoch: 1 });
    await putAutoscaler(world.tables, world.autoscaler("api"), undefined);
    await raiseSpecVersion(world.tables, world.partition);
    await next(world, warm);
    expect(await indexOf(world)).toMatchObject({
      epoch: 4,
      specVersion: 1,
      rows: [{ name: "api" }, { name: "web" }],
    });
    expect((await stated(world)).index.epoch).toBe(4);
  });
});

describe("the names of two loads of specs", () => {
  const loaded = (...all: readonly LoadedSpec[]): LoadedSpecs => ({
    specVersion: 1,
    clusterIncarnation: "a",
    readMs: 0,
    all,
  });
  const record = {
    ...autoscalerRecord(clusterName("eu-1"), "web"),
    manifest: '{"kind":"HorizontalPodAutoscaler","metadata":{"labels":{"app":"web"}}}',
  };
  const spec = {
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 2,
    metrics: [],
  } as const;
  const ready = (parts: Partial<AutoscalerRecord> = {}): LoadedSpec => ({
    kind: "ready",
    spec,
    record: { ...record, ...parts },
  });

  it("are surely the same where nothing that a reader sees of them has changed, and never where one of it has", () => {
    expect(
      hasSameIndex(loaded(ready()), { ...loaded(ready({ updatedMs: 7 })), readMs: 60_000 }),
    ).toBe(true);
    const others: readonly LoadedSpecs[] = [
      loaded(),
      loaded(ready(), ready()),
      { ...loaded(ready()), specVersion: 2 },
      { ...loaded(ready()), clusterIncarnation: "b" },
      loaded(ready({ generation: 2 })),
      loaded(ready({ createdMs: 7 })),
      loaded(ready({ manifest: record.manifest.replace('"web"', '"api"') })),
      loaded(ready({ paused: { by: "ada", atMs: 0 } })),
      loaded({ kind: "invalid", record, message: "m" }),
      loaded({ kind: "ready", record, spec: { ...spec, maxReplicas: 3 } }),
    ];
    for (const other of others)
      expect([hasSameIndex(loaded(ready()), other), hasSameIndex(other, loaded(ready()))]).toEqual([
        false,
        false,
      ]);
  });
});
