import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import Table from "cli-table3";
import { syncHandler } from "../../functions/sync.ts";
import type { Queue } from "../../lib/embedded/queue/queue.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../lib/embedded/host/loopback.ts";
import { startQueues } from "../../lib/embedded/queue/sqs-server.ts";
import {
  autoscalerName,
  autoscalerUid,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { CompletedSync, SyncReport } from "../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { ENGINES } from "../contracts/engines.ts";
import { CONTEXT, connectedTo, manifestOf, nameOf } from "../sync/stand-in-fleet.ts";
import { testTables } from "../sync/world.ts";
import { projectionText } from "./fleet-projection.ts";

/**
 * A whole fleet from the planned minute to settled syncs: the planning of `schedule`, the queue,
 * the handler of `sync`, the tables, and API servers over TLS in another process. Delays are passed
 * over, so that the machine works as fast as it can. `FLEET_CLUSTERS=500 FLEET_AUTOSCALERS=200` is
 * the fleet of docs/speed.md; `FLEET_SCALING` of each cluster's workloads want twice what they
 * have, `FLEET_CONCURRENCY` syncs run at once.
 */
const numberOf = (variable: string, otherwise: number): number =>
  Number(process.env[variable] ?? otherwise);
const CLUSTERS = numberOf("FLEET_CLUSTERS", 50);
const AUTOSCALERS = numberOf("FLEET_AUTOSCALERS", 200);
const SCALING = numberOf("FLEET_SCALING", 2);
const CONCURRENCY = numberOf("FLEET_CONCURRENCY", 8);
const MINUTES = 3;
const MINUTE_MS = 60_000;
const SHOP = "shop";

interface Played {
  readonly minute: number;
  readonly planMs: number;
  readonly wallMs: number;
  readonly ownMs: number;
  readonly serversMs: number;
  readonly reports: readonly CompletedSync[];
}

/**
 * One partition a cluster, and a sync a minute, so that each minute of planning is one sync of
 * everything.
 */
const storeFleet = async (tables: Tables): Promise<void> => {
  for (let at = 0; at < CLUSTERS; at++) {
    const name = nameOf(at);
    const rest = { partitions: [{ name: WHOLE_CLUSTER }], settings: DEFAULT_SETTINGS, version: 1 };
    await putCluster(
      tables,
      { name, uid: `uid-of-${name}`, syncPeriodMs: MINUTE_MS, ...rest },
      undefined,
    );
    const times = { generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "bench" };
    const names = Array.from({ length: AUTOSCALERS }, (_, app) => `app-${app}`);
    await mapWithLimit(names, 16, (app) =>
      putAutoscaler(
        tables,
        {
          cluster: name,
          namespace: namespace(SHOP),
          name: autoscalerName(app),
          uid: autoscalerUid(`${name}-${app}`),
          manifest: manifestOf(app),
          ...times,
        },
        undefined,
      ),
    );
  }
};

const cpuOf = async (child: ChildProcess): Promise<number> => {
  const answer = once(child, "message");
  child.send("cpu");
  return Number((await answer)[0]);
};
const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Receives as the event source does, until every message of the minute is done. */
const drain = async (queue: Queue, handle: (body: string) => Promise<void>): Promise<void> => {
  const worker = async (): Promise<void> => {
    for (let [message] = queue.receive(1); message !== undefined; [message] = queue.receive(1)) {
      await handle(message.body);
      queue.remove(message.inFlight?.receipt ?? "");
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

const play = async (
  tables: Tables,
  child: ChildProcess,
  servers: readonly { readonly url: string; readonly ca: string }[],
  dir: string,
  clock: { ms: number },
) => {
  const queues = await startQueues(join(dir, "queue.jsonl"), () => clock.ms);
  const client = new SQSClient({
    endpoint: queues.endpoint,
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
  });
  const clients = new Map(servers.map((server, at) => [nameOf(at), clientTo(server)]));
  const reports: SyncReport[] = [];
  const failed = (error: unknown): never => {
    throw error;
  };
  const handler = syncHandler({
    ports: {
      tables,
      insert: insertByStatement(tables),
      connect: connectedTo(clients),
      rules: PURE_PART,
      timing: DEFAULT_TIMING,
      cache: warmCache(),
    },
    reporter: { sync: (report) => void reports.push(report), failed },
  });
  const handle = async (body: string): Promise<void> => {
    const record = {
      messageId: "1",
      receiptHandle: "1",
      body,
      attributes: {},
      messageAttributes: {},
      eventSource: "aws:sqs",
    };
    await handler({ Records: [record] } as unknown as Parameters<typeof handler>[0], CONTEXT);
  };
  const played: Played[] = [];
  const queue = { client, queueUrl: queues.syncUrl, wait, random: Math.random };
  for (let minute = 0; minute < MINUTES; minute++) {
    reports.length = 0;
    const [startedMs, own, ofServers] = [performance.now(), ownCpuMs(), await cpuOf(child)];
    await planSyncs({ tables, queue }, { scheduledMs: clock.ms });
    const planMs = performance.now() - startedMs;
    // All that was planned is due now.
    clock.ms += 3 * MINUTE_MS;
    await drain(queues.sync, handle);
    const wallMs = performance.now() - startedMs;
    const completed = reports.filter(
      (report): report is CompletedSync => report.kind === "completed",
    );
    if (completed.length !== CLUSTERS)
      throw new Error(
        `${completed.length} of ${CLUSTERS} syncs were completed: ${JSON.stringify(reports.find(({ kind }) => kind !== "completed"))}`,
      );
    played.push({
      minute,
      planMs,
      wallMs,
      ownMs: ownCpuMs() - own,
      serversMs: (await cpuOf(child)) - ofServers,
      reports: completed,
    });
  }
  for (const one of clients.values()) one.close();
  client.destroy();
  await queues.close();
  return played;
};

const print = (played: readonly Played[], storedS: number): void => {
  const head = [
    "minute",
    "planned in ms",
    "settled after s",
    "syncs/s",
    "autoscalers/s",
    "scales",
    "own CPU of a sync, ms",
    "API servers' CPU, ms",
    "share of the machine",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: head.map(() => "right"),
  });
  for (const { minute, planMs, wallMs, ownMs, serversMs, reports } of played) {
    const seconds = wallMs / 1_000;
    const scales = reports.reduce(
      (sum, { events }) => sum + events.filter(({ outcome }) => outcome === "applied").length,
      0,
    );
    const rates = [
      (CLUSTERS / seconds).toFixed(1),
      ((CLUSTERS * AUTOSCALERS) / seconds).toFixed(0),
      scales,
    ];
    const cpu = [
      (ownMs / CLUSTERS).toFixed(0),
      (serversMs / CLUSTERS).toFixed(0),
      `${(((ownMs + serversMs) / wallMs / availableParallelism()) * 100).toFixed(0)} %`,
    ];
    table.push([minute + 1, planMs.toFixed(0), seconds.toFixed(1), ...rates, ...cpu].map(String));
  }
  process.stdout.write(
    `${table.toString()}\n${CLUSTERS} clusters of ${AUTOSCALERS} autoscalers, ${CONCURRENCY} syncs at once in one process; the first minute opens every connection; the tables are a third process; stored in ${storedS.toFixed(0)} s\n`,
  );
};

export const run = async (): Promise<void> => {
  const engineKind = ENGINES.find(({ name }) => name === "dynoxide");
  if (engineKind === undefined || engineKind.missing !== undefined) {
    process.stdout.write(`Not measured: ${engineKind?.missing}\n`);
    process.exitCode = 1;
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "tidemark-fleet-"));
  const child = fork(
    join(import.meta.dirname, "fleet-servers.ts"),
    [CLUSTERS, AUTOSCALERS, SCALING].map(String),
  );
  const engine = await engineKind.start();
  try {
    const [servers] = (await once(child, "message")) as [
      readonly { readonly url: string; readonly ca: string }[],
    ];
    const clock = { ms: Date.now() };
    const tables = testTables(engine.client, engine.tables, () => clock.ms);
    const storingMs = performance.now();
    await storeFleet(tables);
    const storedS = (performance.now() - storingMs) / 1_000;
    const played = await play(tables, child, servers, dir, clock);
    print(played, storedS);
    const warm = played.at(-1);
    if (warm)
      process.stdout.write(
        `${projectionText({ clusters: CLUSTERS, autoscalers: AUTOSCALERS, syncCpuMs: warm.ownMs / CLUSTERS })}\n`,
      );
    process.stdout.write("AWS Instance Scheduler takes 8 minutes for a pass over 514 accounts\n");
  } finally {
    child.disconnect();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};
