import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Table from "cli-table3";
import { PRICES } from "../../lib/answers/cost/prices.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { type SourceClient, sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { putMetricSource } from "../../lib/stack/store/records/metric-sources.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { sourceRecord } from "../source-client/scene.ts";
import { testTables } from "../sync/world.ts";

const AUTOSCALERS = 1_000;
const PERIOD_MS = 15_000;
/** Five minutes, after the first sync. */
const SYNCS = 20;
const SECONDS_PER_MONTH = 2_628_000;

const AWS = {
  region: "eu-central-1",
  roleArn: "arn:aws:iam::123456789012:role/tidemark-bench-source-x",
  externalId: "bench",
};
const SERVICE = {
  namespace: "monitoring",
  name: "prometheus",
  port: "9090",
  scheme: "http",
  path: "",
} as const;

interface Way {
  readonly name: string;
  readonly metric: (at: number) => object;
  readonly source?: Partial<MetricSourceRecord>;
  /** Dollars of AWS for one call, or for one metric of a call. */
  readonly dollars: { readonly perCall?: number; readonly perMetric?: number };
}

/** The first is what an adapter in the cluster serves, for comparison. */
const WAYS: readonly Way[] = [
  {
    name: "external metrics of an adapter",
    metric: (at) => ({ external: { metric: `load-${at}` } }),
    dollars: {},
  },
  {
    name: "Prometheus through the API server",
    metric: (at) => ({
      prometheus: { source: "main", query: `sum(rate(requests_total{app="app-${at}"}[2m]))` },
    }),
    source: { service: SERVICE },
    dollars: {},
  },
  {
    name: "SQS",
    metric: (at) => ({ sqs: { source: "main", queue: `queue-${at}` } }),
    source: { kind: "sqs", aws: { ...AWS, queues: ["*"] } },
    dollars: { perCall: PRICES.sqsRequest },
  },
  {
    name: "CloudWatch",
    metric: (at) => ({
      cloudwatch: {
        source: "main",
        namespace: "AWS/SQS",
        metric: "Age",
        dimensions: { QueueName: `queue-${at}` },
      },
    }),
    source: { kind: "cloudwatch", aws: { ...AWS, metricNamespaces: ["AWS/*"] } },
    dollars: { perMetric: 0.01 / 1_000 },
  },
];

const NAMESPACES = 20;
const manifest = (at: number, metric: object) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: `app-${at}`, namespace: `team-${at % NAMESPACES}` },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: `app-${at}` },
    minReplicas: 1,
    maxReplicas: 20,
    metrics: [{ name: "load", ...metric, measure: "Average", target: 10 }],
  },
});

interface Servers {
  readonly url: string;
  readonly ca: string;
  readonly aws: string;
  readonly process: ChildProcess;
}

const serve = async (): Promise<Servers> => {
  const child = fork(join(import.meta.dirname, "source-servers.ts"), [String(AUTOSCALERS)]);
  const [ready] = (await once(child, "message")) as [Omit<Servers, "process">];
  return { ...ready, process: child };
};

const questionsSince = async ({ process: child }: Servers): Promise<number> => {
  child.send("questions");
  const [count] = (await once(child, "message")) as [number];
  return count;
};

interface Figures {
  readonly calls: number;
  readonly metrics: number;
  readonly cpuMs: number;
  readonly measured: number;
}

const MICRO = 1_000;

/**
 * Steady syncs of 1,000 autoscalers in one partition: calls to the source and CPU of this process,
 * each of the five minutes after the first sync.
 */
const play = async (
  engine: Engine,
  servers: Servers,
  { metric, source }: Way,
  at: number,
): Promise<Figures> => {
  let nowMs = Date.UTC(2026, 0, 5, 8);
  const clock = (): number => nowMs;
  const tables = testTables(engine.client, engine.tables, clock);
  const cluster = clusterName(`bench-${at}`);
  await putCluster(
    tables,
    {
      name: cluster,
      uid: "uid-of-cluster",
      syncPeriodMs: PERIOD_MS,
      partitions: [{ name: WHOLE_CLUSTER }],
      settings: DEFAULT_SETTINGS,
      version: 1,
    },
    undefined,
  );
  for (let each = 0; each < AUTOSCALERS; each++) {
    const place = {
      cluster,
      namespace: namespace(`team-${each % NAMESPACES}`),
      name: autoscalerName(`app-${each}`),
      uid: autoscalerUid(`uid-${at}-${each}`),
    };
    const record = {
      ...place,
      manifest: JSON.stringify(manifest(each, metric(each))),
      generation: 1,
      createdMs: nowMs,
      updatedMs: nowMs,
    };
    await putAutoscaler(tables, { ...record, updatedBy: "bench" }, undefined);
  }
  const record = source && { ...sourceRecord({ ...source, timeoutSeconds: 10 }), version: at };
  if (record) await putMetricSource(tables, record, at > 1 ? at - 1 : undefined);
  const client = clientTo(servers);
  let metrics = 0;
  const asker = sourceClient({ clock, ownAddresses: true });
  const counting: SourceClient = {
    ...asker,
    ask: (of, queries, context) => {
      metrics += queries.length;
      return asker.ask(of, queries, context);
    },
  };
  const ports: SyncPorts = {
    tables,
    insert: insertByStatement(tables),
    connect: () => Promise.resolve(client),
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
    sources: () => Promise.resolve(counting),
  };
  let measured = 0;
  const oneSync = async (): Promise<void> => {
    const report = await sync(ports, {
      cluster,
      partition: WHOLE_CLUSTER,
      dueMs: nowMs,
      periodMs: PERIOD_MS,
    });
    if (report.kind !== "completed") throw new Error(`the sync was ${report.kind}`);
    measured +=
      AUTOSCALERS - report.changed.filter(({ reason }) => reason === "MetricMissing").length;
    nowMs += PERIOD_MS;
  };
  await oneSync();
  await questionsSince(servers);
  [metrics, measured] = [0, 0];
  const before = process.cpuUsage();
  for (let each = 0; each < SYNCS; each++) await oneSync();
  const { user, system } = process.cpuUsage(before);
  const calls = await questionsSince(servers);
  client.close();
  asker.close();
  return {
    calls: calls / SYNCS,
    metrics: metrics / SYNCS,
    cpuMs: (user + system) / MICRO / SYNCS,
    measured: measured / SYNCS,
  };
};

const dollarsOf = (
  { dollars: { perCall = 0, perMetric = 0 } }: Way,
  { calls, metrics }: Figures,
): number => ((calls * perCall + metrics * perMetric) * SECONDS_PER_MONTH) / (PERIOD_MS / 1_000);

/**
 * 1,000 autoscalers with one metric each, all different, of each kind of source: calls, CPU of a
 * sync beside the one with an adapter, and dollars of the source.
 */
export const run = async (): Promise<void> => {
  const [engine, servers] = [await startMemory(), await serve()];
  process.env["AWS_ENDPOINT_URL"] = servers.aws;
  process.env["AWS_ACCESS_KEY_ID"] ??= "bench";
  process.env["AWS_SECRET_ACCESS_KEY"] ??= "bench";
  const table = new Table({
    head: [
      "metrics",
      "calls per sync",
      "metrics per sync",
      "CPU of a sync",
      "measured per sync",
      "dollars a month",
    ],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right", "right"],
  });
  let adapterMs = 0;
  for (const [at, way] of WAYS.entries()) {
    const figures = await play(engine, servers, way, at);
    adapterMs ||= figures.cpuMs;
    table.push([
      way.name,
      figures.calls.toFixed(1),
      way.source ? figures.metrics.toFixed(0) : "",
      `${(figures.cpuMs / adapterMs).toFixed(2)} times`,
      figures.measured.toFixed(0),
      `$${dollarsOf(way, figures).toFixed(2)}`,
    ]);
  }
  process.stdout.write(
    `${table.toString()}\n${AUTOSCALERS} autoscalers in one partition, synced each ${PERIOD_MS / 1_000} s; CPU beside the sync with an adapter\n`,
  );
  servers.process.disconnect();
  await engine.close();
};
