import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace as namespaceOf,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { kubernetesOn, type Raw } from "../cluster/stand-in/kubernetes.ts";
import { type Answer, json, type Seen } from "../cluster/stand-in/server.ts";
import { sourceRecord } from "../source-client/scene.ts";
import { putMetricSource } from "../../lib/stack/store/records/metric-sources.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
// A client loads it with the first question to AWS. Files are not read in virtual time.
import "../../lib/stack/source-client/aws.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { ACCOUNT, cloudwatchAt, throughAgents } from "../virtual/account.ts";
import { linkTo } from "../virtual/link.ts";
import { clientOver } from "../virtual/client.ts";
import { bodyAnswer } from "../virtual/requests.ts";
import { type VirtualTime, virtualTime } from "../virtual/time.ts";
import { type Attack, fillOthers, type Manifest, manifestText, TENANT } from "./tenants-attacks.ts";
import { testTables } from "./world.ts";

/** What became of the others in one sync. */
export interface VirtualSync {
  /** Each decision about one of them as text, by its name. */
  readonly decisions: ReadonlyMap<string, string>;
  readonly scaled: ReadonlySet<string>;
  /** From the beginning of the sync to the answer about the last scale of one of them. */
  readonly lastMs: number;
  /** The metrics that CloudWatch was asked for, each as often as it was. */
  readonly billed: readonly string[];
  /** What holds because its namespace is over its share. */
  readonly overShare: CompletedSync["overShare"];
}

/** What is played: the others, beside an attack or alone. */
export interface Scene {
  readonly others: readonly Manifest[];
  readonly attack?: Attack | undefined;
  /** Names of sources of Prometheus in the cluster, which are asked through its API server. */
  readonly sources?: readonly string[];
  /** Sources of CloudWatch, in the account of `ACCOUNT`. */
  readonly billed?: readonly MetricSourceRecord[];
}

/** The machine of the function, and its way to the cluster. */
export interface Machine {
  readonly bytesPerSecond: number;
  /** Its part of one processor. */
  readonly cpu: number;
}

const START_MS = 1_800_000_000_000;
const PERIOD_MS = 60_000;
const LATENCY_MS = 2;
const TABLE_MS = 4;
/** A MiB of an answer takes some ten milliseconds, and a decision a tenth of one. */
const CPU_MS_PER_BYTE = 10 / 1024 / 1024;
const DECISION_MS = 0.1;

/** How it is played. */
export interface Playing {
  readonly machine: Machine;
  readonly syncs: number;
  /** A minute, unless it says otherwise. */
  readonly periodMs?: number;
  /** True where each sync has an environment of its own. */
  readonly isCold?: boolean;
  readonly softDeadlineMs?: number;
}

/**
 * So many syncs, by the real code of a function over HTTP, in virtual time. Before each the counts
 * of the others are one again, so that all of them want a replica more.
 */
export const playVirtual = async (
  scene: Scene,
  playing: Playing,
): Promise<readonly VirtualSync[]> => {
  const time = virtualTime();
  let closeAgents: () => void = () => undefined;
  const reach = (connection: Connect): void => {
    closeAgents = throughAgents(connection);
  };
  try {
    return await time.until(played({ time, reach }, scene, playing));
  } finally {
    closeAgents();
    time.end();
  }
};

type Connect = ReturnType<typeof linkTo>["connect"];

const RECORD = {
  ...{ name: clusterName("eu-1"), uid: "uid-of-cluster", version: 1 },
  partitions: [{ name: WHOLE_CLUSTER }],
  settings: DEFAULT_SETTINGS,
};

const played = async (
  { time, reach }: { readonly time: VirtualTime; readonly reach: (connection: Connect) => void },
  { others, attack, sources = [], billed = [] }: Scene,
  playing: Playing,
): Promise<readonly VirtualSync[]> => {
  const { periodMs = PERIOD_MS } = playing;
  const noted = { now: newSync() };
  const clock = (): number => START_MS + Math.floor(time.nowMs());
  const seen: Seen[] = [];
  const server = kubernetesOn({ seen, answer: () => undefined });
  fillOthers(server, others);
  const tenant = attack?.make(server) ?? [];
  server.overrides.push({
    match: ({ url }) => url.pathname.includes("/proxy/"),
    answer: answerQuery,
  });
  server.overrides.push({
    match: ({ headers }) => headers["x-amz-target"] !== undefined,
    answer: cloudwatchAt(START_MS / 1_000, (metric) => void noted.now.billed.push(metric)),
  });
  const engine = await startMemory();
  const atOnce = testTables(engine.client, engine.tables, clock);
  await putCluster(atOnce, { ...RECORD, syncPeriodMs: periodMs }, undefined);
  await store(atOnce, [...others, ...tenant], [...sources.map(inCluster), ...billed]);
  const slowly = around(engine.client, async (_command, send) => {
    await new Promise<void>((resolve) => void time.after(TABLE_MS, resolve));
    return send();
  });
  const tables = testTables(slowly, engine.tables, clock);
  const { bytesPerSecond, cpu } = playing.machine;
  const speed = {
    latencyMs: LATENCY_MS,
    bytesPerMs: bytesPerSecond / 1_000,
    cpuMsPerByte: CPU_MS_PER_BYTE / cpu,
  };
  const link = linkTo(time, speed, bodyAnswer(server));
  reach(link.connect);
  const start = (): Environment =>
    environmentOf({ time, clock, tables, connect: link.connect, noted }, playing);
  let environment = start();
  const all: VirtualSync[] = [];
  for (let round = 0; round < playing.syncs; round++) {
    const dueMs = START_MS + round * periodMs;
    await new Promise<void>((resolve) => void time.after(dueMs - clock(), resolve));
    for (const object of server.collections.get("/apis/apps/v1/deployments") ?? []) rest(object);
    if (playing.isCold) {
      environment.close();
      environment = start();
    }
    noted.now = newSync(time.nowMs());
    const report = await sync(environment.ports, {
      ...{ cluster: RECORD.name, partition: WHOLE_CLUSTER, dueMs, periodMs },
    });
    if (report.kind !== "completed") throw new Error(`the sync was dropped: ${report.why}`);
    all.push({ ...noted.now, overShare: report.overShare });
  }
  environment.close();
  return all;
};

const store = async (
  tables: Tables,
  manifests: readonly Manifest[],
  sources: readonly MetricSourceRecord[],
): Promise<void> => {
  for (const source of sources) await putMetricSource(tables, source, undefined);
  for (const manifest of manifests)
    await putAutoscaler(
      tables,
      {
        ...{ cluster: RECORD.name, namespace: namespaceOf(manifest.namespace) },
        ...{ name: autoscalerName(manifest.name), manifest: manifestText(manifest) },
        uid: autoscalerUid(`uid-${manifest.namespace}-${manifest.name}`),
        ...{ generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" },
      },
      undefined,
    );
};

interface Environment {
  readonly ports: SyncPorts;
  readonly close: () => void;
}

/** The ports of a new environment of the function, which notes what becomes of the others. */
const environmentOf = (
  {
    time,
    clock,
    tables,
    connect,
    noted,
  }: {
    readonly time: VirtualTime;
    readonly clock: () => number;
    readonly tables: Tables;
    readonly connect: Connect;
    readonly noted: { readonly now: ReturnType<typeof newSync> };
  },
  { machine: { cpu }, softDeadlineMs = DEFAULT_TIMING.softDeadlineMs }: Playing,
): Environment => {
  const client = clientOver(connect, time, { name: RECORD.name, clock });
  const asker = sourceClient({ clock, ownAddresses: true, ownAccount: ACCOUNT });
  const decide: typeof PURE_PART.decide = (input) => {
    time.spend(DECISION_MS / cpu);
    // The windows have the times of the scales before, which an environment that is new makes later.
    const decision = PURE_PART.decide({
      ...input,
      ...{ windows: NEW_WINDOWS, nowMs: START_MS },
      ...(input.answeredMs !== undefined && { answeredMs: START_MS }),
    });
    const name = `${input.namespace}/${input.name}`;
    if (input.namespace !== TENANT)
      noted.now.decisions.set(name, JSON.stringify(decision, bigints));
    return decision;
  };
  const putScale: ClusterClient["putScale"] = async (write, timeoutMs) => {
    const answer = await client.putScale(write, timeoutMs);
    if (write.namespace === TENANT || answer.kind !== "applied") return answer;
    noted.now.scaled.add(`${write.namespace}/${write.target.name}`);
    noted.now.lastMs = time.nowMs() - noted.now.fromMs;
    return answer;
  };
  return {
    ports: {
      ...{ tables, insert: insertByStatement(tables), cache: warmCache() },
      connect: async () => ({ ...client, putScale }),
      rules: { ...PURE_PART, decide },
      timing: { ...DEFAULT_TIMING, softDeadlineMs },
      sources: async () => asker,
    },
    close: () => {
      asker.close();
      client.close();
    },
  };
};

const newSync = (fromMs = 0) => ({
  fromMs,
  decisions: new Map<string, string>(),
  scaled: new Set<string>(),
  billed: [] as string[],
  lastMs: 0,
});

/** The count is one again, by nobody who is seen: rates must not hold the next scale. */
const rest = (object: Raw): void => {
  const { namespace } = object["metadata"] as { readonly namespace: string };
  if (namespace !== TENANT) (object["spec"] as { replicas: number }).replicas = 1;
};

const SERVICE = { namespace: "monitoring", port: "9090", scheme: "http", path: "" } as const;
const inCluster = (name: string): MetricSourceRecord =>
  sourceRecord({ name, timeoutSeconds: 3, service: { ...SERVICE, name } });

/** A Prometheus that takes as long for a query as the name of the query says. */
const answerQuery: Answer = (seen, response, socket) => {
  const tookMs = Number(/^t(\d+)_/.exec(seen.url.searchParams.get("query") ?? "")?.[1] ?? 0);
  const result = [{ metric: {}, value: [START_MS / 1_000, "40"] }];
  const answer = json(200, { status: "success", data: { resultType: "vector", result } });
  setTimeout(() => answer(seen, response, socket), tookMs);
};

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;
