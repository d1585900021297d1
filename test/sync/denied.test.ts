import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/**
 * A world whose only workload wants 5 replicas instead of 2, and whose first PUT is answered with
 * this code.
 */
const denying = async (
  denial: number,
  fault: "denied" | "repeated, then denied",
  options: Parameters<typeof newWorld>[3] = {},
): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 }, options);
  workloadOf(world, "web").demand = 5;
  Object.assign(world.cluster, { denial });
  world.cluster.faults.push(fault);
  return world;
};

const CODES = [403, 404, 422, 429];

describe("a scale that the API server refuses", () => {
  it.each(CODES)(
    "with %i is refused where the workload has not moved since it was decided, and is decided again in the next sync",
    async (code) => {
      const world = await denying(code, "denied");
      expect(await world.sync()).toMatchObject({
        events: [{ outcome: "refused", detail: "the server denied it" }],
      });
      world.nowMs += PERIOD_MS;
      expect(await world.sync()).toMatchObject({ events: [{ outcome: "applied", to: 5 }] });
    },
  );

  it.each(CODES)(
    "with %i counts as unknown where a proxy had sent the write before, and that copy took effect",
    async (code) => {
      for (const generations of [true, false]) {
        const world = await denying(code, "repeated, then denied", { generations });
        expect(await world.sync()).toMatchObject({
          events: [{ outcome: "unknown", detail: "the workload changed, and has 5 replicas" }],
        });
        expect(workloadOf(world, "web").replicas).toBe(5);
      }
    },
  );

  it("counts as unknown where the workload is gone by then", async () => {
    const world = await denying(404, "denied");
    world.cluster.beforePut = () => world.cluster.workloads.delete("web");
    expect(await world.sync()).toMatchObject({
      events: [{ outcome: "unknown", detail: "the workload is gone" }],
    });
  });

  it("stays open where the workload cannot be read again, and a later sync settles it", async () => {
    const world = await denying(403, "repeated, then denied");
    world.cluster.beforePut = () => Object.assign(world.cluster, { broken: true });
    expect(await world.sync()).toMatchObject({ openIntents: 1, events: [] });
    world.cluster.broken = false;
    world.nowMs += 3 * PERIOD_MS;
    expect(await world.sync()).toMatchObject({ openIntents: 0, events: [{ outcome: "applied" }] });
  });

  it("costs one read more than a scale that is applied", async () => {
    const world = await denying(403, "denied");
    await world.sync();
    expect(world.cluster.calls).toBe(2 + 1 + 1);
  });
});
