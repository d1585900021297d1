import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { HAS_REDIS, type RealRedis, realRedis } from "../source-client/real-redis.ts";
import { type QueueRun, queueRun } from "./queue-run.ts";

const METRIC = "redis: { source: cache, key: jobs }";

describe.skipIf(!HAS_REDIS)("npm start with a Redis of Debian", { timeout: 180_000 }, () => {
  let redis: RealRedis;
  let orders: QueueRun;
  beforeAll(async () => {
    redis = await realRedis();
    orders = queueRun(METRIC);
  });
  afterAll(async () => {
    await redis.close();
    orders.remove();
  });

  it("scales from zero by a list, and back to zero once it is empty", async () => {
    await orders.run(1);
    const url = `redis://127.0.0.1:${redis.port}`;
    const where = ["--for-cluster", "*", "--for-namespace", "*", "--private", "--key", "jobs"];
    const put = await inside([
      ...["source", "put", "cache", "--kind", "redis", "--url", url, ...where, ...orders.data],
    ]);
    expect(put.out).toContain("Source cache registered");
    const check = await inside(["source", "check", "cache", "--queue", "jobs", ...orders.data]);
    expect(check.out).toMatch(/✓ +answer +the value 0 in /);
    expect(await orders.run(3)).toMatch(/shop\/orders \d+ → 0 applied/);

    redis.send("RPUSH", "jobs", ...Array.from({ length: 130 }, (_, at) => `job-${at}`));
    const grown = await orders.run(3);
    expect(grown).toMatch(/shop\/orders 0 → 1 applied: Activated/);
    expect(grown).toMatch(/shop\/orders \d+ → 7 applied: MetricAboveTarget, jobs /);

    redis.send("DEL", "jobs");
    expect(await orders.run(5)).toMatch(/shop\/orders \d+ → 0 applied/);
  });
});
