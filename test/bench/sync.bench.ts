import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Table from "cli-table3";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { PurePart } from "../../lib/stack/sync/pure-part.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING, type Woken } from "../../lib/stack/plan/message.ts";
import { present } from "../../lib/rules/model/json.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { startDynalite } from "../contracts/engines.ts";
import { type Consumed, metered, nothingConsumed } from "../contracts/metered.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

const AUTOSCALERS = 100;
const PERIOD_MS = 15_000;
const SYNCS = 25;
/** Of each kind that `compareWoken` plays turn by turn. */
const TURNS = 60;
/** The first sync of a minute has more to write, whoever asked for it. */
const SYNCS_A_MINUTE = 4;
interface Cost {
  readonly writes: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

/** Of both tables together. */
const costOf = ({ writes, writeUnits, readUnits }: Consumed): Cost => {
  const total = (by: ReadonlyMap<string, number>): number =>
    [...by.values()].reduce((sum, one) => sum + one, 0);
  return { writes: total(writes), writeUnits: total(writeUnits), readUnits };
};

const CLUSTER: ClusterRecord = {
  name: clusterName("eu-1"),
  uid: "uid-of-cluster",
  syncPeriodMs: PERIOD_MS,
  partitions: [{ name: WHOLE_CLUSTER }],
  settings: DEFAULT_SETTINGS,
  version: 1,
};

const manifest = (name: string, ns: string) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name, namespace: ns },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
  },
});

const record = (at: number): AutoscalerRecord => {
  const [name, ns] = [`app-${at}`, `team-${Math.floor(at / 50)}`];
  return {
    cluster: CLUSTER.name,
    namespace: namespace(ns),
    name: autoscalerName(name),
    uid: autoscalerUid(`0b0cf6ee-57de-4a07-8d6e-${String(at).padStart(12, "0")}`),
    generation: 1,
    manifest: JSON.stringify(manifest(name, ns)),
    createdMs: NOON,
    updatedMs: NOON,
    updatedBy: "bench",
  };
};

interface Server {
  readonly url: string;
  readonly ca: string;
  readonly process: ChildProcess;
}

const serve = async (): Promise<Server> => {
  const process = fork(join(import.meta.dirname, "../cluster/stand-in/serve.ts"), [
    String(AUTOSCALERS),
  ]);
  const [ready] = (await once(process, "message")) as [{ url: string; ca: string }];
  return { ...ready, process };
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

interface Played {
  readonly report: SyncReport;
  readonly cost: Cost;
  readonly decideMs: number;
  readonly wallMs: number;
}

const bytesStored = async (
  tables: Tables,
): Promise<{ readonly pages: number; readonly perAutoscaler: number }> => {
  const partition = { cluster: CLUSTER.name, partition: WHOLE_CLUSTER };
  const head = await readHead(tables, partition);
  const generation = head?.pageGeneration ?? 0;
  const pages = await Promise.all(
    (head?.pages ?? []).map((_, index) => readPage(tables, { partition, generation, index })),
  );
  const bytes = pages.reduce((sum, page) => sum + (page?.body.length ?? 0), 0);
  return { pages: pages.length, perAutoscaler: bytes / AUTOSCALERS };
};

/**
 * What one sync of 100 autoscalers in one partition costs: real rules, a real HTTPS cluster in
 * another process, the embedded tables, the journal included.
 */
export const run = async (): Promise<void> => {
  const [engine, server] = [await startDynalite(), await serve()];
  const client = clientTo(server);
  let nowMs = NOON;
  const tables = testTables(engine.client, engine.tables, () => nowMs);
  await putCluster(tables, CLUSTER, undefined);
  for (let at = 0; at < AUTOSCALERS; at++) await putAutoscaler(tables, record(at), undefined);
  let consumed = nothingConsumed();
  let decideMs = 0;
  const rules: PurePart = {
    ...PURE_PART,
    decide: (input) => {
      const started = performance.now();
      const decision = PURE_PART.decide(input);
      decideMs += performance.now() - started;
      return decision;
    },
  };
  const cache = warmCache();
  const portsFor = (own: Consumed): SyncPorts => {
    const metering = { ...tables, client: metered(engine.client, () => own) };
    return {
      tables: metering,
      insert: insertByStatement(metering),
      connect: () => Promise.resolve(client),
      rules,
      timing: DEFAULT_TIMING,
      cache,
    };
  };
  const synced = async (woken?: Woken): Promise<Played> => {
    consumed = nothingConsumed();
    decideMs = 0;
    const started = performance.now();
    const report = await sync(portsFor(consumed), {
      ...{ cluster: CLUSTER.name, partition: WHOLE_CLUSTER, dueMs: nowMs, periodMs: PERIOD_MS },
      ...present({ woken }),
    });
    nowMs += PERIOD_MS;
    return { report, cost: costOf(consumed), decideMs, wallMs: performance.now() - started };
  };
  const played: Played[] = [];
  for (let at = 0; at < SYNCS; at++) played.push(await synced());
  print(played, await bytesStored(tables));
  await compareWoken(synced, SYNCS);
  client.close();
  server.process.disconnect();
  await engine.close();
};

/** What a wake adds to the sync that it sends; a planned one has none. */
const WOKEN: Readonly<Record<string, Woken | undefined>> = {
  planned: undefined,
  woken: { reason: "bench" },
  "woken, naming one autoscaler": {
    reason: "bench",
    namespace: "team-0",
    names: ["app-0"],
  },
};

/** Steady syncs turn by turn: planned ones, and the same by a wake. */
const compareWoken = async (
  synced: (woken?: Woken) => Promise<Played>,
  before: number,
): Promise<void> => {
  const kinds = Object.keys(WOKEN);
  const rows = new Map<string, Played[]>(kinds.map((kind) => [kind, []]));
  for (let at = before, turn = 0; turn < TURNS * kinds.length; at++) {
    if (at % SYNCS_A_MINUTE === 0) {
      await synced();
      continue;
    }
    // The order changes from round to round, so that no kind always comes at one place of a minute.
    const kind = kinds[(turn + Math.floor(turn / kinds.length)) % kinds.length] ?? "";
    rows.get(kind)?.push(await synced(WOKEN[kind]));
    turn++;
  }
  const table = new Table({
    head: ["steady sync", "number", "WRU", "RRU", "wall ms", "of a planned one"],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right", "right"],
  });
  const wallOf = (kind: string): number =>
    median((rows.get(kind) ?? []).map(({ wallMs }) => wallMs));
  for (const [kind, all] of rows)
    table.push([
      ...[kind, String(all.length)],
      String(median(all.map(({ cost }) => cost.writeUnits))),
      String(median(all.map(({ cost }) => cost.readUnits))),
      wallOf(kind).toFixed(1),
      (wallOf(kind) / wallOf("planned")).toFixed(2),
    ]);
  process.stdout.write(`${table.toString()}\n`);
};

/** Rows by what the sync had to do; each figure is the median of its row. */
const print = (
  played: readonly Played[],
  stored: { readonly pages: number; readonly perAutoscaler: number },
): void => {
  const table = new Table({
    head: ["sync", "number", "cluster calls", "writes", "WRU", "RRU", "decide ms", "wall ms"],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "right"],
  });
  const kindOf = ({ report }: Played): string => {
    if (report.kind === "dropped") return `dropped: ${report.why}`;
    if (report.events.length > 0) return `${report.events.length} scales`;
    if (report.pagesWritten > 0) return "page changed";
    return report.journalPages > 0 ? "first of a minute" : "steady";
  };
  for (const [kind, rows] of Map.groupBy(played, kindOf)) {
    const of = (figure: (row: Played) => number): number => median(rows.map(figure));
    const calls = of(({ report }) => (report.kind === "completed" ? report.calls : 0));
    const units = [
      of(({ cost }) => cost.writes),
      of(({ cost }) => cost.writeUnits),
      of(({ cost }) => cost.readUnits),
    ];
    table.push([
      kind,
      String(rows.length),
      String(calls),
      ...units.map(String),
      of((row) => row.decideMs).toFixed(1),
      of((row) => row.wallMs).toFixed(0),
    ]);
  }
  const bytes = `${stored.perAutoscaler.toFixed(0)} bytes of windows per autoscaler on ${stored.pages} page(s)`;
  process.stdout.write(
    `${table.toString()}\n${AUTOSCALERS} autoscalers in one partition, one pod each; ${bytes}; embedded tables\n`,
  );
};
