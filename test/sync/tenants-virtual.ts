import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { clientFor } from "../../lib/stack/cluster/connect.ts";
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
import { kubernetesOn, type Raw } from "../cluster/stand-in/kubernetes.ts";
import type { Seen } from "../cluster/stand-in/server.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { linkTo } from "../virtual/link.ts";
import { type VirtualTime, virtualTime } from "../virtual/time.ts";
import {
  type App,
  type Attack,
  CPU,
  fillOthers,
  type Manifest,
  manifestText,
  TENANT,
} from "./tenants-attacks.ts";
import { testTables } from "./world.ts";

/** What became of the others in one sync. */
export interface VirtualSync {
  /** Each decision about one of them as text, by its name. */
  readonly decisions: ReadonlyMap<string, string>;
  readonly scaled: ReadonlySet<string>;
  /** From the beginning of the sync to the answer about the last scale of one of them. */
  readonly lastMs: number;
  /** The namespaces that hold because they are over their share. */
  readonly over: ReadonlySet<string>;
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

/**
 * So many syncs of one warm function, by its real code over HTTP, in virtual time. Before each the
 * counts of the others are one again, so that all of them want a replica more.
 */
export const playVirtual = async (
  others: readonly App[],
  attack: Attack | undefined,
  { machine, syncs }: { readonly machine: Machine; readonly syncs: number },
): Promise<readonly VirtualSync[]> => {
  const time = virtualTime();
  try {
    return await time.until(played(time, others, { attack, machine, syncs }));
  } finally {
    time.end();
  }
};

const played = async (
  time: VirtualTime,
  others: readonly App[],
  {
    attack,
    machine: { bytesPerSecond, cpu },
    syncs,
  }: { readonly attack: Attack | undefined; readonly machine: Machine; readonly syncs: number },
): Promise<readonly VirtualSync[]> => {
  const clock = (): number => START_MS + Math.floor(time.nowMs());
  const seen: Seen[] = [];
  const server = kubernetesOn({ seen, answer: () => undefined });
  fillOthers(server, others);
  const tenant = attack?.make(server) ?? [];
  const link = linkTo(
    time,
    {
      latencyMs: LATENCY_MS,
      bytesPerMs: bytesPerSecond / 1_000,
      cpuMsPerByte: CPU_MS_PER_BYTE / cpu,
    },
    (request, response) => answerTo(server, request, response),
  );
  const engine = await startMemory();
  const slowly = around(engine.client, async (_command, send) => {
    await new Promise<void>((resolve) => void time.after(TABLE_MS, resolve));
    return send();
  });
  const tables = testTables(slowly, engine.tables, clock);
  const record = {
    ...{ name: clusterName("eu-1"), uid: "uid-of-cluster", syncPeriodMs: PERIOD_MS, version: 1 },
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
  };
  await putCluster(tables, record, undefined);
  const direct = testTables(engine.client, engine.tables, clock);
  const manifests: readonly Manifest[] = [
    ...others.map((app) => ({ ...app, metrics: [CPU] })),
    ...tenant,
  ];
  for (const manifest of manifests)
    await putAutoscaler(
      direct,
      {
        ...{ cluster: record.name, namespace: namespaceOf(manifest.namespace) },
        ...{ name: autoscalerName(manifest.name), manifest: manifestText(manifest) },
        uid: autoscalerUid(`uid-${manifest.namespace}-${manifest.name}`),
        ...{ generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" },
      },
      undefined,
    );
  const access = {
    server: new URL("http://virtual"),
    ...{ rejectUnauthorized: true, ownAddresses: true, forget: () => undefined },
    credentials: async () => ({ headers: {} }),
  };
  const client = clientFor({ name: record.name, kubeSystemUid: undefined }, access, {
    clock,
    elapsed: time.nowMs,
    surroundings: { after: time.after, connection: link.connect },
  });
  let now = newSync();
  const decide: typeof PURE_PART.decide = (input) => {
    time.spend(DECISION_MS / cpu);
    // The windows have the times of the scales before, which an environment that is new makes later.
    const decision = PURE_PART.decide({
      ...input,
      ...{ windows: NEW_WINDOWS, nowMs: START_MS },
      ...(input.answeredMs !== undefined && { answeredMs: START_MS }),
    });
    if (input.namespace !== TENANT)
      now.decisions.set(`${input.namespace}/${input.name}`, JSON.stringify(decision, bigints));
    return decision;
  };
  const putScale: ClusterClient["putScale"] = async (write, timeoutMs) => {
    const answer = await client.putScale(write, timeoutMs);
    if (write.namespace === TENANT || answer.kind !== "applied") return answer;
    now.scaled.add(`${write.namespace}/${write.target.name}`);
    now.lastMs = time.nowMs() - now.fromMs;
    return answer;
  };
  const ports = {
    tables,
    insert: insertByStatement(tables),
    connect: async () => ({ ...client, putScale }),
    rules: { ...PURE_PART, decide },
    timing: DEFAULT_TIMING,
    cache: warmCache(),
  };
  const all: VirtualSync[] = [];
  for (let round = 0; round < syncs; round++) {
    const dueMs = START_MS + round * PERIOD_MS;
    await new Promise<void>((resolve) => void time.after(dueMs - clock(), resolve));
    for (const object of server.collections.get("/apis/apps/v1/deployments") ?? []) rest(object);
    now = newSync(time.nowMs());
    const report = await sync(ports, {
      ...{ cluster: record.name, partition: WHOLE_CLUSTER, dueMs, periodMs: PERIOD_MS },
    });
    if (report.kind !== "completed") throw new Error(`the sync was dropped: ${report.why}`);
    const over = new Set(report.overShare.map(({ namespace }) => String(namespace)));
    all.push({ ...now, over });
  }
  client.close();
  return all;
};

const newSync = (fromMs = 0) => ({
  fromMs,
  decisions: new Map<string, string>(),
  scaled: new Set<string>(),
  lastMs: 0,
});

/** The count is one again, by nobody who is seen: rates must not hold the next scale. */
const rest = (object: Raw): void => {
  const { namespace } = object["metadata"] as { readonly namespace: string };
  if (namespace !== TENANT) (object["spec"] as { replicas: number }).replicas = 1;
};

const answerTo = (
  server: Pick<ReturnType<typeof kubernetesOn>, "answer">,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    // Nothing is packed: what a tenant fills its objects with need not be packable.
    const { "accept-encoding": _packed, ...headers } = request.headers;
    const call: Seen = {
      ...{ method: request.method ?? "", headers, body: Buffer.concat(chunks).toString("utf8") },
      url: new URL(request.url ?? "/", "http://virtual"),
    };
    server.answer(call, response, request.socket);
  });
};

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;
