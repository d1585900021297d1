import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../infra/lambda/dynoxide.ts";
import { imported } from "../manifest/import/keda-shapes/schema.ts";
import { HAS_PROMETHEUS, scrapingPrometheus } from "../source-client/real-prometheus.ts";
import { HAS_REDIS, type RealRedis, realRedis } from "../source-client/real-redis.ts";

/** redis_exporter of Debian (`prometheus-redis-exporter`), or unpacked by hand. */
const PROGRAM = [
  "/usr/bin/prometheus-redis-exporter",
  join(homedir(), ".cache/tidemark/redis-exporter/prometheus-redis-exporter"),
].find((path) => existsSync(path));

const IS_HERE = HAS_REDIS && HAS_PROMETHEUS && PROGRAM !== undefined;

describe.skipIf(!IS_HERE)("a Redis by redis_exporter", { timeout: 120_000 }, () => {
  let redis: RealRedis;
  let close: () => Promise<unknown> = async () => undefined;
  let url = "";
  beforeAll(async () => {
    redis = await realRedis();
    redis.send("RPUSH", "jobs", "a", "b", "c", "d");
    redis.send("-n", "3", "RPUSH", "jobs", "a");
    for (const at of ["1", "2", "3"]) redis.send("XADD", "s", "*", "a", at);
    redis.send("XGROUP", "CREATE", "s", "g", "0");
    redis.send("XREADGROUP", "GROUP", "g", "c", "COUNT", "2", "STREAMS", "s", ">");
    const port = await freePort();
    const exporter = spawn(
      PROGRAM ?? "",
      [
        ...["-redis.addr", `redis://127.0.0.1:${redis.port}`],
        ...["-web.listen-address", `127.0.0.1:${port}`],
        ...["-check-single-keys", "db0=jobs,db3=jobs", "-check-single-streams", "db0=s"],
      ],
      { stdio: "ignore" },
    );
    const prometheus = await scrapingPrometheus({
      target: `127.0.0.1:${port}`,
      everyMs: 500,
      host: "127.0.0.1",
    });
    url = prometheus.url;
    close = async () => {
      exporter.kill("SIGKILL");
      await prometheus.close();
      await redis.close();
    };
  }, 60_000);
  afterAll(() => close());

  it.each([
    ["redis", { listName: "jobs" }, 4],
    ["redis-cluster", { listName: "jobs", databaseIndex: "3" }, 1],
    ["redis-sentinel", { listName: "jobs" }, 4],
    ["redis-streams", { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" }, 2],
  ])("answers the query of a converted trigger of %s", async (type, metadata, value) => {
    const { manifests } = imported(type, metadata, {
      named: { [type]: "prometheus:main" },
      discovered: false,
    });
    const { spec } = manifests[0] as unknown as {
      spec: { metrics: { prometheus: { query: string } }[] };
    };
    const asked = new URL(`${url}/api/v1/query`);
    asked.searchParams.set("query", spec.metrics[0]?.prometheus.query ?? "");
    const answered = async (): Promise<number> => {
      const answer = (await (await fetch(asked)).json()) as {
        data: { result: { value: [number, string] }[] };
      };
      return Number(answer.data.result[0]?.value[1]);
    };
    await expect.poll(answered, { timeout: 20_000, interval: 300 }).toBe(value);
  });
});
