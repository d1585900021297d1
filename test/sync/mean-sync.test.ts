import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/answers/service/open.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, workloadOf } from "./world.ts";

let engine: Engine;
beforeEach(async () => {
  engine = await startMemory();
});
afterEach(() => engine.close());

describe("what syncs take", () => {
  it("is counted by each sync, and shown of each partition", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5, api: 2, jobs: 3 });
    for (const name of ["web", "api", "jobs"]) {
      const workload = workloadOf(world, name);
      workload.replicas = { web: 5, api: 2, jobs: 3 }[name] ?? 0;
    }
    const syncs = 40;
    for (let sync = 0; sync < syncs; sync++) {
      world.nowMs += PERIOD_MS;
      await world.sync();
    }
    const { mean } = await world.head();
    expect(mean).toMatchObject({ syncs, mean: { autoscalers: 3, pods: 10 } });
    // The first sync stores all three; at rest nothing changes.
    const atRest = mean?.mean.changed ?? 0;
    expect(atRest).toBeGreaterThan(0);
    expect(atRest).toBeLessThan(1);
    const queries = openQueries({ tables: world.tables, clock: () => world.nowMs });
    const [partition] = (await queries.cluster(world.record.name)).partitions;
    expect(partition?.meanSync).toMatchObject({ syncs, autoscalers: 3, pods: 10 });
  });
});
