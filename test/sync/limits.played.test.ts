import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { Windows } from "../../lib/rules/model/windows.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { PAGE_BYTES_MAX } from "../../lib/stack/store/pages/plan.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const many = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`app-${String(at).padStart(3, "0")}`, 4]),
  );

const next = async (world: World) => {
  world.nowMs += PERIOD_MS;
  return world.sync();
};

/** Values that compress badly: the same everywhere, different at every place. */
const scattered = (at: number): number => (Math.imul(at + 1, 2_654_435_761) >>> 0) % 2_147_483_648;
const letters = (length: number, seed: number): string =>
  createHash("shake256", { outputLength: length })
    .update(String(seed))
    .digest("base64")
    .slice(0, length);

/**
 * Windows with every field at its legal maximum: an hour of other recommendations every 5 s, half
 * an hour of scales both ways, every condition with the longest text.
 */
const fullest = (seed: number): Windows => {
  const startMs = 1_795_262_400_000;
  const changes = (way: number) =>
    Array.from({ length: 360 }, (_, at) => ({
      change: scattered(seed + at * way),
      atMs: startMs + at * 5_000,
      outdated: true,
      eventId: `${letters(36, seed + at * way)}:${at}`,
    }));
  const conditions = ["AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"].map(
    (type, at) => ({
      type,
      status: "Unknown" as const,
      reason: letters(60, seed + at),
      message: letters(4_000, seed + at),
      transitionMs: startMs + at,
    }),
  );
  return {
    memory: {
      recommendations: Array.from({ length: 720 }, (_, at) => ({
        replicas: scattered(seed + at),
        firstMs: startMs + at * 5_000,
        lastMs: startMs + at * 5_000 + 1,
        stepMs: 5_000,
        windowMs: 3_600_000,
      })),
      scaleUps: changes(3),
      scaleDowns: changes(7),
      selector: letters(2_000, seed),
    },
    status: {
      conditions,
      currentReplicas: scattered(seed),
      desiredReplicas: scattered(seed + 1),
      lastScaleMs: startMs,
      currentMetrics: [{ type: letters(3_000, seed) }],
    },
  };
};

describe("windows at their legal maximum", () => {
  it("divide over as many pages as keep each far below the size of an item, and stay divided", async () => {
    const world = await newWorld(engine.client, engine.tables, many(60));
    const rules = world.worker().rules;
    let seed = 0;
    const full = world.worker({
      rules: {
        ...rules,
        decide: (input) => ({
          ...rules.decide(input),
          kind: "hold",
          failed: false,
          windows: fullest(++seed),
        }),
      },
    });
    await world.sync(full);
    const { pages, pageGeneration } = await world.head();
    const sizes = await Promise.all(
      pages.map(
        async (_, index) =>
          (
            await readPage(world.tables, {
              partition: world.partition,
              generation: pageGeneration,
              index,
            })
          )?.body.length ?? 0,
      ),
    );
    expect(pages.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThan(PAGE_BYTES_MAX);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    world.cluster.broken = true;
    await next(world);
    expect((await world.head()).pages).toHaveLength(pages.length);
  }, 60_000);
});

describe("the memory of an environment", () => {
  it("holds so many autoscalers, and drops the partition used longest ago", () => {
    const cache = warmCache();
    const partition = (name: string) => ({ cluster: name, partition: "default" }) as never;
    const all = Array.from({ length: 9_000 }, (_, at) => ({
      kind: "unreadable" as const,
      namespace: "",
      name: "",
      uid: autoscalerUid(`u${at}`),
      message: "",
    }));
    const remembered = {
      specs: { specVersion: 1, clusterIncarnation: ":1", readMs: 0, all },
      pages: [],
      tables: "",
      pageGeneration: 0,
      journalBases: new Map(),
    };
    for (const name of ["a", "b"]) cache.set(partition(name), remembered);
    cache.set(partition("a"), remembered);
    cache.set(partition("c"), remembered);
    expect(["a", "b", "c"].map((name) => cache.get(partition(name)) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
    cache.set(partition("d"), {
      ...remembered,
      specs: { ...remembered.specs, all: [...all, ...all, ...all] },
    });
    expect(["a", "c", "d"].map((name) => cache.get(partition(name)) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
    cache.forget(partition("d"));
    expect(cache.get(partition("d"))).toBeUndefined();
  });
});
