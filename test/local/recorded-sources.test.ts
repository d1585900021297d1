import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "../../lib/embedded/run/options.ts";
import { run } from "../../lib/embedded/run/run.ts";
import { PROMETHEUS } from "../../lib/rules/sources/prometheus.ts";
import { inside } from "../cli/inside.ts";
import { oneSeries, prometheusServer } from "../source-client/scene.ts";
import {
  constantTrace,
  type RunningCluster,
  runCluster,
  START_MS,
  workload,
} from "./cluster/running-cluster.ts";
import { refusal, start } from "./folder/starting.ts";
import { startQueueServer } from "../../lib/embedded/run/queue-server.ts";

const QUEUE_YAML = fileURLToPath(new URL("../../examples/queue.yaml", import.meta.url));
const FAST = ["--speed", "100000"];
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-recorded-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const manifest = (metric: string): string => {
  const path = at(`manifest-${metric.length}.yaml`);
  writeFileSync(
    path,
    `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: orders, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: orders }
  minReplicas: 1
  maxReplicas: 30
  metrics:
    - ${metric}
      measure: Average
      target: 20
      activation: 0
  idle: { replicas: 0, afterSeconds: 120 }
`,
  );
  return path;
};

describe("npm start -- --manifest examples/queue.yaml", { timeout: 120_000 }, () => {
  it("scales from zero by the queue within a virtual minute", async () => {
    const printed = await start(
      "--manifest",
      QUEUE_YAML,
      "--data",
      at("queue"),
      "--for",
      "1m",
      ...FAST,
    );
    expect(printed).toMatch(/^2026-01-05T08:00:\d\dZ {2}shop\/orders 0 → 1 applied: Activated, /m);
    expect(printed).toMatch(
      /^2026-01-05T08:00:\d\dZ {2}shop\/orders 1 → \d+ applied: MetricAboveTarget, orders \d+ of 20 /m,
    );
    const listed = (await inside(["source", "list", "--data", at("queue")])).out;
    for (const line of [
      /^jobs +http +service monitoring/m,
      /^main +prometheus +service monitoring/m,
      /^queues +sqs /m,
    ])
      expect(listed).toMatch(line);
  });

  it("goes back to zero once the queue is empty, and only then", async () => {
    const rows = Array.from(
      { length: 30 },
      (_, minute) => `${1_700_000_000 + 60 * minute},${minute < 3 ? 100 : 0}`,
    );
    writeFileSync(
      at("burst.csv"),
      `# unit: orders per minute\ntimestamp,value\n${rows.join("\n")}\n`,
    );
    const sqs = manifest("sqs: { source: queues, queue: orders, count: [Visible, InFlight] }");
    const args = ["--trace", at("burst.csv"), "--manifest", sqs, "--data", at("burst")];
    const printed = await start(...args, "--for", "10m", ...FAST);
    expect(printed).toMatch(/shop\/orders \d+ → 0 applied/);
    const minute = Number(/T08:(\d\d):\d\dZ {2}shop\/orders \d+ → 0 applied/.exec(printed)?.[1]);
    expect(minute).toBeGreaterThanOrEqual(5);
  });

  it.each([
    [
      "the service of a Prometheus",
      "prometheus: { source: main, query: 'sum(requests_waiting{deployment=\"orders\"})' }",
    ],
    [
      "a JSON document of a service",
      "http: { source: jobs, path: /queues/orders, pointer: /waiting }",
    ],
  ])(
    "does the same by %s, which the API server of the simulated cluster passes on",
    async (_what, metric) => {
      const trace = ["--trace", at("burst.csv"), "--manifest", manifest(metric)];
      const printed = await start(
        ...trace,
        "--data",
        at(`proxied-${metric.length}`),
        "--for",
        "2m",
        ...FAST,
      );
      expect(printed).toMatch(/shop\/orders 2 → \d+ applied: MetricAboveTarget, (main|jobs) /);
    },
  );

  it("holds on a queue that does not exist: it is missing, and not empty", async () => {
    const sqs = manifest("sqs: { source: queues, queue: no-such, count: [Visible] }");
    const printed = await start(
      "--trace",
      at("burst.csv"),
      "--manifest",
      sqs,
      "--data",
      at("none"),
      "--for",
      "4m",
      ...FAST,
    );
    expect(printed).not.toMatch(/ → \d+ applied/);
    expect((await inside(["describe", "orders", "--data", at("none")])).out).toContain(
      "the queue does not exist",
    );
    const { out } = await inside(["source", "status", "--data", at("none")]);
    expect(out).toMatch(
      /^SOURCE +KIND +AUTOSCALERS +MISSING +QUESTIONS\/MONTH +\$\/MONTH +LAST ERROR\n/,
    );
    expect(out).toMatch(/^main +prometheus +0 +0 +0\.00$/m);
    expect(out).toMatch(/^queues +sqs +1 +1 of 1 +175,200 +0\.07 +.*the queue does not exist/m);
    expect(
      JSON.parse((await inside(["source", "status", "-o", "json", "--data", at("queue")])).out),
    ).toContainEqual(
      expect.objectContaining({ source: "queues", autoscalers: 1, looked: 1, missing: 0 }),
    );
  });
});

describe("tidemark source check", { timeout: 60_000 }, () => {
  it("asks the sources of a run that is alive", async () => {
    const stop = new AbortController();
    const data = ["--data", at("checked")];
    const terminal = { stream: process.stdout, write: () => {}, live: false };
    const args = ["--manifest", QUEUE_YAML, ...data, "--speed", "60"];
    const running = startCommand((options) => run(options, terminal, stop), args).parseAsync(args, {
      from: "user",
    });
    try {
      const check = async (...more: readonly string[]) =>
        (await inside(["source", "check", ...more, ...data])).out;
      await expect
        .poll(() => check("queues", "--queue", "orders"), { timeout: 30_000 })
        .toMatch(/✓ +answer +the value \d+ in /);
      expect(await check("main", "--cluster", "local")).toMatch(
        /✓ +answer in local +the value 1 in /,
      );
      expect(
        await check(
          "jobs",
          "--cluster",
          "local",
          "--path",
          "/queues/orders",
          "--pointer",
          "/inFlight",
        ),
      ).toMatch(/✓ +answer in local/);
    } finally {
      stop.abort();
      await running;
    }
  });
});

describe("npm start -- --source-url", { timeout: 60_000 }, () => {
  it("asks this Prometheus at the speed of the clock, and the next start asks the recorded one again", async () => {
    const server = await prometheusServer();
    server.answer = oneSeries("120");
    const data = ["--data", at("own")];
    const query = manifest("prometheus: { source: main, query: sum(requests_waiting) }");
    try {
      const startedAt = performance.now();
      const printed = await start(
        "--trace",
        at("burst.csv"),
        "--manifest",
        query,
        "--source-url",
        server.url,
        ...data,
        "--for",
        "2s",
      );
      expect(performance.now() - startedAt).toBeGreaterThan(1_500);
      expect(printed).toContain("shop/orders 2 → 6 applied: MetricAboveTarget, main ");
      expect(server.seen[0]?.url.searchParams.get("query")).toBe("sum(requests_waiting)");
      const asked = server.seen.length;
      await start(...data, "--for", "1m", ...FAST);
      expect(server.seen).toHaveLength(asked);
      await inside([
        "source",
        "put",
        "main",
        "--url",
        server.url,
        "--for-cluster",
        "*",
        "--for-namespace",
        "*",
        ...data,
      ]);
      await start(...data, "--for", "1m", ...FAST);
      expect(server.seen.length).toBeGreaterThan(asked);
    } finally {
      await server.close();
    }
  });

  it.each([
    [
      ["--source-url", "http://127.0.0.1:9090", "--speed", "60"],
      "Cannot use --speed 60 with --source-url: a Prometheus answers at the speed of the clock",
    ],
    [
      ["--source-url", "http://127.0.0.1:9090", "--clusters", "2"],
      "Cannot use --source-url with --clusters",
    ],
    [
      ["--source-url", "http://ada:secret@127.0.0.1"],
      "Wanted a URL without user, password and query",
    ],
    [["--source-url", "prometheus:9090"], "Wanted a URL without user, password and query"],
  ])("is refused with %j", async (args, words) => {
    expect(await refusal(...args, "--data", at("refused"))).toContain(words);
  });

  it("is on the page of the embedded run with the queue of the example", () => {
    const page = readFileSync(new URL("../../docs/embedded-run.md", import.meta.url), "utf8");
    expect(page).toContain("npm start -- --manifest examples/queue.yaml");
    expect(page).toContain("--source-url");
  });
});

describe("the Prometheus of a simulated cluster", () => {
  let cluster: RunningCluster;
  beforeAll(async () => {
    const outages = [{ fromMs: 600_000, toMs: 900_000 }];
    cluster = await runCluster({
      workloads: [
        workload({ trace: constantTrace(120), outages }),
        workload({ name: "api", trace: constantTrace(60) }),
      ],
    });
  });
  afterAll(() => cluster.remove());

  const proxy = "/api/v1/namespaces/monitoring/services/http%3Aprometheus%3A9090/proxy";
  const asked = async (query: string, afterMs: number): Promise<unknown> => {
    cluster.time.nowMs = START_MS + afterMs;
    const { code, bytes, json } = await cluster.fetch(
      `${proxy}/api/v1/query?${new URLSearchParams({ query })}`,
    );
    const { asking } = PROMETHEUS;
    if (asking.way !== "registered" || asking.batch)
      throw new Error("a Prometheus is asked each question by itself");
    const answer = asking.read(
      { status: code, bytes: bytes.length, body: json },
      { for: "prometheus", source: "main", query },
    );
    return answer.kind === "failed"
      ? answer.failure.reason
      : answer.items.map(({ milli }) => milli);
  };

  it.each([
    ['sum(rate(http_requests_total{app="web"}[2m]))', 60_000, [2_000n]],
    ["sum(rate(http_requests_total[2m]))", 60_000, [3_000n]],
    ["avg(requests_per_second)", 60_000, [1_500n]],
    ['max(requests_per_second{deployment=~"web|api"})', 60_000, [2_000n]],
    ['count(requests_per_second{namespace="shop",deployment!="web"})', 60_000, [1n * 1000n]],
    ['requests_per_second{deployment="api"}', 60_000, [1_000n]],
    ['sum(requests_waiting{deployment="web"})', 60_000, [1_000n]],
    ["42", 60_000, [42_000n]],
    ["vector(1)", 60_000, [1_000n]],
    ["requests_per_second", 60_000, "SeveralSeries"],
    ['sum(requests_per_second{deployment="none"})', 60_000, []],
    ['sum(requests_per_second{deployment="web"})', 700_000, []],
    ["http_requests_total", 60_000, "QueryRefused"],
    ["histogram_quantile(0.9, x)", 60_000, "QueryRefused"],
    ["", 60_000, "QueryRefused"],
  ])("answers %s as the reader of a real one reads it", async (query, afterMs, expected) => {
    expect(await asked(query, afterMs)).toEqual(expected);
  });

  it("is one of two services, and others and other methods are refused", async () => {
    const get = async (path: string, method = "GET") =>
      (await cluster.fetch(`/api/v1/namespaces/monitoring/services/${path}`, { method })).code;
    expect(await get("http:jobs:8080/proxy/queues/web")).toBe(200);
    expect(await get("http:jobs:8080/proxy/queues/none")).toBe(404);
    expect(await get("http:jobs:8080/proxy/queues/web", "POST")).toBe(405);
    expect(await get("http:grafana:3000/proxy/")).toBe(404);
    expect(await get("http:prometheus:9090/proxy/api/v1/status/config")).toBe(404);
    expect(await get("http%zz/proxy/")).toBe(400);
  });
});

describe("the account of the recorded queues", () => {
  it("answers GetQueueAttributes of its queues, and nothing else", async () => {
    const server = await startQueueServer(async (name) =>
      name === "orders" ? { waiting: 12, inFlight: 3 } : undefined,
    );
    const call = async (body: unknown, target = "AmazonSQS.GetQueueAttributes") => {
      const response = await fetch(server.url, {
        method: "POST",
        headers: { "x-amz-target": target },
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()] as const;
    };
    const url = (path: string) => `https://sqs.eu-central-1.amazonaws.com/${path}`;
    try {
      expect(
        await call({
          QueueUrl: url("000000000000/orders"),
          AttributeNames: ["ApproximateNumberOfMessages"],
        }),
      ).toEqual([200, { Attributes: { ApproximateNumberOfMessages: "12" } }]);
      for (const path of ["000000000000/none", "123456789012/orders"])
        expect(await call({ QueueUrl: url(path), AttributeNames: ["All"] })).toMatchObject([
          400,
          { __type: "com.amazonaws.sqs#QueueDoesNotExist" },
        ]);
      expect(
        await call({ QueueUrl: url("000000000000/orders") }, "AmazonSQS.DeleteQueue"),
      ).toMatchObject([400, { __type: "com.amazonaws.sqs#UnsupportedOperation" }]);
      expect((await call({ QueueUrl: "orders" }))[0]).toBe(400);
    } finally {
      await server.close();
    }
  });
});
