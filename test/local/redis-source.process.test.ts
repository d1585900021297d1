import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { HAS_REDIS, type RealRedis, realRedis } from "../source-client/real-redis.ts";
import { start } from "./folder/starting.ts";

const MANIFEST = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata:
  name: orders
  namespace: shop
  annotations: { tidemark.dev/simulated-replicas: "3" }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: orders }
  minReplicas: 1
  maxReplicas: 30
  metrics:
    - redis: { source: cache, key: jobs }
      measure: Average
      target: 20
      activation: 0
  scaleDown: { stabilizationWindowSeconds: 0 }
  idle: { replicas: 0, afterSeconds: 60 }
`;

describe.skipIf(!HAS_REDIS)("npm start with a Redis of Debian", { timeout: 180_000 }, () => {
  let redis: RealRedis;
  let folder = "";
  beforeAll(async () => {
    redis = await realRedis();
    folder = mkdtempSync(join(tmpdir(), "tidemark-redis-run-"));
    writeFileSync(join(folder, "orders.yaml"), MANIFEST);
  });
  afterAll(async () => {
    await redis.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const data = (): readonly string[] => ["--data", join(folder, "data")];
  const run = (minutes: number): Promise<string> =>
    start(
      ...["--manifest", join(folder, "orders.yaml"), ...data()],
      ...["--for", `${minutes}m`, "--speed", "100000"],
    );

  it("scales from zero by a list, and back to zero once it is empty", async () => {
    await run(1);
    const url = `redis://127.0.0.1:${redis.port}`;
    const where = ["--for-cluster", "*", "--for-namespace", "*", "--private", "--key", "jobs"];
    const put = await inside([
      ...["source", "put", "cache", "--kind", "redis", "--url", url, ...where, ...data()],
    ]);
    expect(put.out).toContain("Source cache registered");
    const check = await inside(["source", "check", "cache", "--queue", "jobs", ...data()]);
    expect(check.out).toMatch(/✓ +answer +the value 0 in /);
    expect(await run(3)).toMatch(/shop\/orders \d+ → 0 applied/);

    redis.send("RPUSH", "jobs", ...Array.from({ length: 130 }, (_, at) => `job-${at}`));
    const grown = await run(3);
    expect(grown).toMatch(/shop\/orders 0 → 1 applied: Activated/);
    expect(grown).toMatch(/shop\/orders \d+ → 7 applied: MetricAboveTarget, jobs /);

    redis.send("DEL", "jobs");
    expect(await run(5)).toMatch(/shop\/orders \d+ → 0 applied/);
  });
});
