import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import Table from "cli-table3";
import limited from "p-limit";
import { syncHandler } from "../../functions/sync.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { type SyncMessage, DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { planCluster } from "../../lib/stack/plan/plan.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { startMemory } from "../contracts/engines.ts";
import {
  CONTEXT,
  connectedTo,
  nameOf,
  sqsEvent,
  storeCluster,
  TROUBLES,
} from "../sync/stand-in-fleet.ts";
import { testTables } from "../sync/world.ts";

const CLUSTERS = 100;
const PERIOD_MS = 10_000;
const ROUNDS = 4;
/** Syncs at once, as the maximum concurrency of the function. */
const CONCURRENCY = 20;
const START_IN_MS = 500;

interface Server {
  readonly url: string;
  readonly ca: string;
}

/**
 * Lags, in ms after the due time, of the syncs of the clusters that are never in trouble; and how
 * long the others' syncs took.
 */
interface Played {
  readonly lags: readonly number[];
  readonly badMs: readonly number[];
  /** Longest time that this process itself stood still: lag that no cluster caused. */
  readonly stalledMs: number;
}

const play = async (bad: number): Promise<Played> => {
  const child = fork(join(import.meta.dirname, "stand-ins.ts"), [String(CLUSTERS), String(bad)]);
  const [servers] = (await once(child, "message")) as [readonly Server[]];
  const engine = await startMemory();
  const tables = testTables(engine.client, engine.tables, Date.now);
  const clients = new Map(servers.map((server, at) => [nameOf(at), clientTo(server)]));
  const records = await Promise.all(
    [...clients.keys()].map((name) => storeCluster(tables, name, PERIOD_MS)),
  );
  const reports: SyncReport[] = [];
  const ports = {
    tables,
    insert: insertByStatement(tables),
    connect: connectedTo(clients),
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
  };
  const failed = (error: unknown): never => {
    throw error;
  };
  const handler = syncHandler({
    ports,
    reporter: { sync: (report) => void reports.push(report), failed },
  });
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  const fromMs = Date.now() + START_IN_MS;
  const planned = records.flatMap((record) =>
    planCluster(record, { fromMs, untilMs: fromMs + ROUNDS * PERIOD_MS }),
  );
  const limit = limited(CONCURRENCY);
  const one = async (message: SyncMessage): Promise<void> => {
    await wait(Math.max(0, message.dueMs - Date.now()));
    await limit(() => handler(sqsEvent(message), CONTEXT));
  };
  await Promise.all(planned.map(one));
  loop.disable();
  for (const client of clients.values()) client.close();
  child.disconnect();
  // The first round opens connections.
  const measured = reports.filter(({ dueMs }) => dueMs >= fromMs + PERIOD_MS);
  const troubled = new Set<string>(TROUBLES.map((_, at) => nameOf(at)));
  return {
    lags: measured
      .filter(({ cluster }) => !troubled.has(cluster))
      .map(({ endMs, dueMs }) => endMs - dueMs),
    stalledMs: loop.max / 1e6,
    badMs: measured
      .filter(({ cluster }) => troubled.has(cluster))
      .map(({ startMs, endMs }) => endMs - startMs),
  };
};

const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[
    Math.min(numbers.length - 1, Math.floor(numbers.length * share))
  ] ?? Number.NaN;

/**
 * Sync lag of 97 clusters, with and without three others that hang, answer 500 and reset
 * connections: real HTTPS in another process, real time, the function's handler.
 */
export const run = async (): Promise<void> => {
  const [well, troubled] = [await play(0), await play(TROUBLES.length)];
  const head = [
    "the three others",
    "syncs",
    "lag p50 ms",
    "p95",
    "p99",
    "max",
    "their own syncs took, max ms",
    "process stood still, max ms",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: ["left", ...head.slice(1).map(() => "right" as const)],
  });
  const row = (name: string, { lags, badMs, stalledMs }: Played) => [
    name,
    lags.length,
    ...[0.5, 0.95, 0.99, 1].map((share) => percentile(lags, share).toFixed(0)),
    Math.max(...badMs).toFixed(0),
    stalledMs.toFixed(0),
  ];
  table.push(row("are well", well), row("hang, answer 500, reset", troubled));
  const ratio = [0.5, 0.95].map((share) =>
    (percentile(troubled.lags, share) / percentile(well.lags, share)).toFixed(2),
  );
  const setting = `${CLUSTERS} clusters, a sync every ${PERIOD_MS / 1_000} s, ${CONCURRENCY} at once in one process`;
  process.stdout.write(
    `${table.toString()}\nlag of the 97 others with trouble / without: ${ratio[0]} (p50), ${ratio[1]} (p95); ${setting}\n`,
  );
};
