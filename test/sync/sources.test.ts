import { request as httpRequest } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { doctor } from "../../lib/answers/service/doctor/doctor.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { journalOfPage } from "../../lib/stack/store/history/journal.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { putMetricSource } from "../../lib/stack/store/records/metric-sources.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { type Kubernetes, kubernetes, workload } from "../cluster/stand-in/kubernetes.ts";
import type { Answer } from "../cluster/stand-in/server.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { awsServer } from "../source-client/aws-server.ts";
import { HOSTILE, SECRET } from "../source-client/hostile-deeds.ts";
import {
  HAS_PROMETHEUS,
  type RealPrometheus,
  realPrometheus,
} from "../source-client/real-prometheus.ts";
import {
  oneSeries,
  type PrometheusServer,
  prometheusServer,
  sourceRecord,
} from "../source-client/scene.ts";
import { testTables } from "./world.ts";

/**
 * Whole syncs over a real HTTPS API server and real HTTP sources. Nothing delays a scale down:
 * whatever is misread as less shows as a scale.
 */
const PODS = 6;
const NAMES = ["web", "api", "idle"] as const;

const manifest = (name: string, metric: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name, namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 20,
      metrics: [{ prometheus: metric, measure: "Average", target: 10, ...more }],
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      },
      scaleUp: { policies: [{ type: "Percent", value: 900, periodSeconds: 15 }] },
    },
  });

let engine: Engine;
let clusters = 0;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const syncsOf = async (
  server: Pick<Kubernetes, "url" | "ca">,
  manifests: Readonly<Record<string, string>>,
  sources: readonly MetricSourceRecord[],
  clock: () => number = Date.now,
) => {
  const tables = testTables(engine.client, engine.tables, clock);
  const cluster = clusterName(`sources-${++clusters}`);
  await putCluster(
    tables,
    {
      name: cluster,
      uid: "uid-of-cluster",
      syncPeriodMs: 5_000,
      partitions: [{ name: WHOLE_CLUSTER }],
      settings: DEFAULT_SETTINGS,
      version: 1,
    },
    undefined,
  );
  for (const [name, text] of Object.entries(manifests)) {
    const place = {
      cluster,
      namespace: namespace("shop"),
      name: autoscalerName(name),
      uid: autoscalerUid(`uid-${cluster}-${name}`),
    };
    await putAutoscaler(
      tables,
      { ...place, manifest: text, generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" },
      undefined,
    );
  }
  for (const source of sources)
    await putMetricSource(tables, { ...source, name: `${source.name}-${cluster}` }, undefined);
  const client = clientTo(server);
  const asker = sourceClient({ clock: Date.now, ownAddresses: true });
  const ports: SyncPorts = {
    tables,
    insert: insertByStatement(tables),
    connect: async () => client,
    rules: PURE_PART,
    timing: { ...DEFAULT_TIMING, softDeadlineMs: 4_000 },
    cache: warmCache(),
    sources: async () => asker,
  };
  let dueMs = clock() - 1_000;
  return {
    /** What the doctor finds in the tables that the syncs have written. */
    slowSources: async (): Promise<readonly string[]> => {
      const examined = await Array.fromAsync(doctor({ tables, clock }, { cluster }));
      return examined
        .flatMap(({ findings }) => findings)
        .filter(({ rule }) => rule === "slow-source")
        .map(({ evidence }) => evidence);
    },
    /** All that the journal holds, as it is read. */
    journal: async (): Promise<readonly Evaluation[]> => {
      const stretch = { page: 0, sinceMs: 0, untilMs: clock() + MINUTE_MS };
      const pages = await Array.fromAsync(
        journalOfPage(tables, { cluster, partition: WHOLE_CLUSTER }, stretch),
      );
      return pages.flatMap(({ evaluations }) => evaluations);
    },
    close: () => {
      client.close();
      asker.close();
    },
    sync: async (): Promise<CompletedSync> => {
      dueMs = Math.max(dueMs + 1, clock() - 1_000);
      const report = await sync(ports, {
        cluster,
        partition: WHOLE_CLUSTER,
        dueMs,
        periodMs: 5_000,
      });
      if (report.kind !== "completed") throw new Error(`the sync was ${JSON.stringify(report)}`);
      return report;
    },
  };
};

/** The name of a source of the next cluster: the sources of all tests share one table. */
const own = (name: string): string => `${name}-sources-${clusters + 1}`;

const countsOf = (server: Kubernetes): readonly number[] =>
  (server.collections.get("/apis/apps/v1/deployments") ?? []).map(
    ({ spec }) => (spec as { readonly replicas: number }).replicas,
  );

/**
 * What the API server does with GET …/services/http:prometheus:9090/proxy/…: it sends the rest to a
 * pod of the service.
 */
const proxied =
  (to: string): Answer =>
  ({ url }, response) => {
    const path = url.pathname.slice(url.pathname.indexOf("/proxy/") + "/proxy".length);
    httpRequest(`${to}${path}${url.search}`, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  };

const SERVICE = {
  namespace: "monitoring",
  name: "prometheus",
  port: "9090",
  scheme: "http",
  path: "",
} as const;
const PROXY = /^\/api\/v1\/namespaces\/monitoring\/services\/http:prometheus:9090\/proxy\//;

let server: Kubernetes;
let prometheus: PrometheusServer;
let environment: Awaited<ReturnType<typeof syncsOf>> | undefined;
beforeEach(async () => {
  server = await kubernetes();
  server.collections.set(
    "/apis/apps/v1/deployments",
    NAMES.map((name) => workload("shop", name, PODS)),
  );
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  prometheus = await prometheusServer();
});
afterEach(async () => {
  environment?.close();
  await Promise.all([server.close(), prometheus.close()]);
});

describe("a sync with registered sources", () => {
  it("asks a service of the cluster through its API server, once for two autoscalers with the same query, and scales both", async () => {
    prometheus.answer = oneSeries("90");
    server.overrides.push({
      match: ({ url }) => PROXY.test(decodeURIComponent(url.pathname)),
      answer: proxied(prometheus.url),
    });
    const query = 'sum(rate(x{app=~"web|api"}[2m]))';
    environment = await syncsOf(
      server,
      {
        web: manifest("web", { source: own("in"), query }),
        api: manifest("api", { source: own("in"), query }),
      },
      [sourceRecord({ name: "in", service: SERVICE })],
    );
    await environment.sync();
    expect(countsOf(server)).toEqual([9, 9, PODS]);
    expect(prometheus.seen.map(({ url }) => url.searchParams.get("query"))).toEqual([query]);
    expect(prometheus.seen[0]?.headers.authorization).toBeUndefined();
  });

  it("decides the others before a source that hangs has used its time, and holds those that wait for it", async () => {
    const hanging = await prometheusServer();
    hanging.answer = () => undefined;
    prometheus.answer = oneSeries("120");
    environment = await syncsOf(
      server,
      {
        web: manifest("web", { source: own("good"), query: "a" }),
        api: manifest("api", { source: own("slow"), query: "b", whenEmpty: 0 }),
      },
      [
        sourceRecord({ name: "good", url: prometheus.url }),
        sourceRecord({ name: "slow", url: hanging.url, timeoutSeconds: 2 }),
      ],
    );
    const startMs = performance.now();
    let scaledMs = 0;
    const scaled = setInterval(() => {
      if (scaledMs === 0 && countsOf(server)[0] === 12) scaledMs = performance.now() - startMs;
    }, 5);
    const report = await environment.sync();
    clearInterval(scaled);
    await hanging.close();
    expect(countsOf(server)).toEqual([12, PODS, PODS]);
    expect(performance.now() - startMs).toBeGreaterThan(1_900);
    expect(scaledMs).toBeGreaterThan(0);
    expect(scaledMs).toBeLessThan(1_900);
    expect(report.changed).toContainEqual(
      expect.objectContaining({
        name: "api",
        reason: "MetricMissing",
        message: expect.stringContaining("no answer within 2000 ms"),
      }),
    );
  });

  it.each(Object.entries(HOSTILE))(
    "beside a source that %s scales who asks another, holds who asks it, and shows nothing of it",
    async (_deed, [answer]) => {
      const hostile = await prometheusServer();
      hostile.answer = (_query, response) => void answer(response);
      prometheus.answer = oneSeries("120");
      environment = await syncsOf(
        server,
        {
          web: manifest("web", { source: own("bad"), query: "a", whenEmpty: 0 }),
          api: manifest("api", { source: own("good"), query: "b" }),
        },
        [
          sourceRecord({ name: "bad", url: hostile.url }),
          sourceRecord({ name: "good", url: prometheus.url }),
        ],
      );
      const report = JSON.stringify(await environment.sync(), (_name, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      );
      await hostile.close();
      expect(countsOf(server)).toEqual([PODS, 12, PODS]);
      expect(report).toContain("MetricMissing");
      expect(report).not.toContain(SECRET);
    },
  );

  it("asks a source with everySeconds once, and decides the next syncs on the answer that the page of the windows keeps", async () => {
    prometheus.answer = oneSeries("120");
    const metric = { source: own("main"), query: "a" };
    environment = await syncsOf(
      server,
      { web: manifest("web", metric, { everySeconds: 60 }), api: manifest("api", metric) },
      [sourceRecord({ name: "main", url: prometheus.url })],
    );
    await environment.sync();
    expect(countsOf(server)).toEqual([12, 12, PODS]);
    prometheus.answer = oneSeries("20");
    await environment.sync();
    expect(prometheus.seen).toHaveLength(2);
    expect(countsOf(server)).toEqual([12, 2, PODS]);
  });

  it("asks a source with everySeconds once in this time, for as long as it runs: each answer is kept, also one that changes nothing", async () => {
    prometheus.answer = oneSeries("60");
    let nowMs = Date.now();
    environment = await syncsOf(
      server,
      { web: manifest("web", { source: own("main"), query: "a" }, { everySeconds: 60 }) },
      [sourceRecord({ name: "main", url: prometheus.url })],
      () => nowMs,
    );
    const asked: number[] = [];
    for (let each = 0; each < 13; each++) {
      const before = prometheus.seen.length;
      await environment.sync();
      asked.push(prometheus.seen.length - before);
      nowMs += 15_000;
    }
    expect(asked).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(countsOf(server)).toEqual([PODS, PODS, PODS]);
  });

  it("scales on the messages of a queue, and never shrinks while AWS refuses to count them", async () => {
    const aws = await awsServer();
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
    try {
      const numbers = {
        ApproximateNumberOfMessages: "80",
        ApproximateNumberOfMessagesNotVisible: "40",
      };
      aws.answer = () => [200, { Attributes: numbers }];
      const sqs = { prometheus: null, sqs: { source: own("queues"), queue: "orders" } };
      const place = {
        region: "eu-central-1",
        roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-queues",
        externalId: "shop",
      };
      environment = await syncsOf(server, { web: manifest("web", {}, sqs) }, [
        sourceRecord({ name: "queues", kind: "sqs", aws: { ...place, queues: ["orders"] } }),
      ]);
      await environment.sync();
      expect(countsOf(server)).toEqual([12, PODS, PODS]);
      for (const refusal of [
        [400, { __type: "com.amazonaws.sqs#QueueDoesNotExist" }],
        [403, { __type: "com.amazonaws.sqs#AccessDenied" }],
        [200, { Attributes: {} }],
      ] as const) {
        aws.answer = () => refusal;
        await environment.sync();
        expect(countsOf(server)).toEqual([12, PODS, PODS]);
      }
      aws.answer = () => [
        200,
        {
          Attributes: {
            ApproximateNumberOfMessages: "0",
            ApproximateNumberOfMessagesNotVisible: "0",
          },
        },
      ];
      await environment.sync();
      expect(countsOf(server)).toEqual([1, PODS, PODS]);
      expect(aws.calls.every(({ signatureIsRight }) => signatureIsRight)).toBe(true);
    } finally {
      vi.unstubAllEnvs();
      await aws.close();
    }
  });

  it("says the same of a source that is not there and of one that the namespace may not ask", async () => {
    const words: string[] = [];
    for (const sources of [
      [],
      [sourceRecord({ url: prometheus.url, namespaces: ["bank-*"] })],
      [sourceRecord({ url: prometheus.url, clusters: ["other"] })],
    ]) {
      const name = own("main");
      const cluster = `sources-${clusters + 1}`;
      environment?.close();
      environment = await syncsOf(
        server,
        { web: manifest("web", { source: name, query: "a", whenEmpty: 0 }) },
        sources,
      );
      const report = JSON.stringify((await environment.sync()).changed);
      expect(report).toContain(`no source \\"${name}\\" is registered for namespace \\"shop\\"`);
      words.push(report.replaceAll(cluster, "CLUSTER"));
    }
    expect(new Set(words).size).toBe(1);
    expect(prometheus.seen).toEqual([]);
    expect(countsOf(server)).toEqual([PODS, PODS, PODS]);
  });

  it("asks no source for a cluster that cannot be reached: what is read could not be used", async () => {
    environment = await syncsOf(
      server,
      { web: manifest("web", { source: own("main"), query: "a" }) },
      [sourceRecord({ url: prometheus.url })],
    );
    server.overrides.push({
      match: () => true,
      answer: (_seen, _response, socket) => void socket.destroy(),
    });
    await environment.sync();
    expect(countsOf(server)).toEqual([PODS, PODS, PODS]);
  });
});

describe("a sync with a source that answers late and in time", () => {
  const LATE_MS = 1_050;
  const answering = async (afterMs: number, more: object = {}) => {
    prometheus.answer = (query, response) =>
      void setTimeout(() => oneSeries("60")(query, response), afterMs);
    let ahead = 0;
    environment = await syncsOf(
      server,
      { web: manifest("web", { source: own("main"), query: "a" }, more) },
      [sourceRecord({ url: prometheus.url, timeoutSeconds: 2 })],
      () => Date.now() + ahead,
    );
    return { ...environment, pass: (ms: number) => (ahead += ms) };
  };
  const named = expect.stringMatching(
    /^source "main-sources-\d+" took 1(\.\d)? s of its time limit of 2 s to answer metric "main-sources-\d+"$/,
  );

  it("lets the doctor name it, and no more after a quick answer", async () => {
    const { sync: next, slowSources, pass } = await answering(LATE_MS);
    await next();
    expect(await slowSources()).toEqual([named]);
    prometheus.answer = oneSeries("60");
    pass(MINUTE_MS);
    await next();
    expect(prometheus.seen).toHaveLength(2);
    expect(await slowSources()).toEqual([]);
  });

  it("remembers it in the syncs that do not ask", async () => {
    const {
      sync: next,
      slowSources,
      journal,
      pass,
    } = await answering(LATE_MS, { everySeconds: 300 });
    await next();
    pass(MINUTE_MS);
    await next();
    expect(prometheus.seen).toHaveLength(1);
    expect((await journal()).map(({ slow }) => slow?.length)).toEqual([1, 1]);
    expect(await slowSources()).toEqual([named]);
  });

  it("stores nothing of a source that answers in less than half of its time", async () => {
    const { sync: next, slowSources, journal } = await answering(100);
    await next();
    const evaluations = await journal();
    expect(evaluations).toHaveLength(1);
    expect(evaluations[0]).not.toHaveProperty("slow");
    expect(await slowSources()).toEqual([]);
  });
});

describe.skipIf(!HAS_PROMETHEUS)("a sync with a real Prometheus behind the API server", () => {
  let real: RealPrometheus;
  beforeAll(async () => {
    const now = Math.floor(Date.now() / 1_000);
    const samples = Array.from({ length: 40 }, (_, at) => now - 300 + at * 15);
    const lines = (labels: string, value: (at: number) => number): string =>
      samples.map((time, at) => `queue_length${labels} ${value(at)} ${time}`).join("\n");
    real = await realPrometheus(
      `# TYPE queue_length gauge\n${lines('{queue="orders"}', () => 45)}\n${lines('{queue="mail"}', () => 75)}`,
    );
  });
  afterAll(() => real.close());

  it.each([
    ["one series", { query: 'queue_length{queue="orders"}' }, 5],
    ["a sum", { query: "sum(queue_length)" }, 12],
    ["a number", { query: "scalar(sum(queue_length)) + 10" }, 13],
    ["several series", { query: "queue_length" }, PODS],
    ["no series", { query: "queue_lenght" }, PODS],
    ["no series that means 0", { query: "queue_lenght", whenEmpty: 0 }, 1],
    ["a division by zero", { query: "sum(queue_length) / 0" }, PODS],
    ["not a number", { query: "sum(queue_length) * 0 / 0" }, PODS],
    ["a range", { query: "queue_length[1m]" }, PODS],
    ["a query that cannot be parsed", { query: "sum(queue_length", whenEmpty: 0 }, PODS],
    ["a match that is refused", { query: "queue_length * on() queue_length", whenEmpty: 0 }, PODS],
  ])("counts on %s", async (_what, metric, count) => {
    server.overrides.push({
      match: ({ url }) => PROXY.test(decodeURIComponent(url.pathname)),
      answer: proxied(real.url),
    });
    environment = await syncsOf(
      server,
      { web: manifest("web", { source: own("in"), ...metric }) },
      [sourceRecord({ name: "in", service: SERVICE })],
    );
    await environment.sync();
    expect(countsOf(server)).toEqual([count, PODS, PODS]);
  });
});
