import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Context, SQSEvent } from "aws-lambda";
import { type SyncHandler, syncHandler } from "../../functions/sync.ts";
import { clusterClients, clientFor } from "../../lib/stack/cluster/connect.ts";
import { powertoolsReporter } from "../../lib/stack/report/reporter.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { realTables } from "../../lib/stack/store/table/real-tables.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";

/**
 * The function `sync` in a process of its own, bundled as it is deployed, with one difference: it
 * is given an API server on this machine, which the deployed one refuses. Its parent sends the body
 * of a message and is told what the sync took.
 */
export interface Measured {
  readonly wallMs: number;
  /** CPU of this process: of all its threads, user and system. */
  readonly ownMs: number;
  /** The longest time for which the event loop did not turn. */
  readonly blockedMs: number;
  /** The highest so far. */
  readonly peakMiB: number;
  readonly calls: number;
  readonly bytes: number;
  readonly scales: number;
  /** Pages of windows and of the journal that it wrote. */
  readonly pages: number;
  readonly phasesMs: Readonly<Record<string, number>>;
}

const env = (name: string): string => process.env[name] ?? "";

let last: SyncReport | undefined;

const handlerHere = (): SyncHandler => {
  const tables = realTables({
    stateTable: env("BENCH_STATE_TABLE"),
    historyTable: env("BENCH_HISTORY_TABLE"),
  });
  const access = {
    server: new URL(env("BENCH_SERVER")),
    ca: env("BENCH_CA"),
    rejectUnauthorized: true,
    ownAddresses: true,
    credentials: async () => ({ headers: { authorization: `Bearer ${env("BENCH_TOKEN")}` } }),
    forget: () => undefined,
  };
  const clients = clusterClients({ clock: Date.now }, async (record, options) =>
    clientFor({ ...record, kubeSystemUid: undefined }, access, options),
  );
  const reporter = powertoolsReporter();
  return syncHandler({
    ports: {
      tables,
      insert: insertByStatement(tables),
      connect: clients.clientFor,
      rules: PURE_PART,
      timing: DEFAULT_TIMING,
      cache: warmCache(),
    },
    reporter: {
      ...reporter,
      sync: (report) => {
        last = report;
        reporter.sync(report);
      },
    },
  });
};

const handler = handlerHere();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

/**
 * The most memory of this process so far. The figure of `resourceUsage` begins with that of the
 * parent, which bundled it; that of Linux begins with the program.
 */
const peakKib = (): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);

const measured = async (body: string): Promise<Measured> => {
  last = undefined;
  delay.reset();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const { batchItemFailures } = await handler(
    { Records: [{ messageId: "1", body }] } as SQSEvent,
    {} as Context,
  );
  const wallMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpu);
  const report = last as SyncReport | undefined;
  if (batchItemFailures.length > 0 || report?.kind !== "completed")
    throw new Error(`a sync was ${JSON.stringify(report)}`);
  return {
    wallMs,
    ownMs: (user + system) / 1_000,
    blockedMs: delay.max / 1e6,
    peakMiB: peakKib() / 1_024,
    calls: report.calls,
    bytes: report.bytes,
    scales: report.events.filter(({ outcome }) => outcome === "applied").length,
    pages: report.pagesWritten + report.journalPages,
    phasesMs: report.phasesMs,
  };
};

process.on("message", (body: string) => {
  measured(body).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failed: error.message }),
  );
});
process.once("disconnect", () => process.exit(0));
process.send?.("ready");
