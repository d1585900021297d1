import { randomUUID } from "node:crypto";
import Table from "cli-table3";
import limited from "p-limit";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { decodePage, encodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { waitForAll } from "../../lib/stack/store/table/wait-for-all.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { startDynalite } from "../contracts/engines.ts";
import { type Consumed, metered, nothingConsumed } from "../contracts/metered.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";
import { type LoadCluster, loadCluster, loadManifest } from "./load-cluster.ts";

/**
 * On-demand list prices of Amazon DynamoDB in us-east-1 (price list of October 2026), dollars for
 * one request unit, without the free tier.
 */
const DOLLARS_PER_WRITE_UNIT = 0.625 / 1e6;
const DOLLARS_PER_READ_UNIT = 0.125 / 1e6;
const MONTH_SECONDS = 730 * 3_600;

const PERIOD_MS = 15_000;
const SYNCS_A_MINUTE = 60_000 / PERIOD_MS;
/** Enough for the 300 s of stabilization to fill with what a busy autoscaler recommends. */
const WARM_MINUTES = 6;
/** COST_SIZES=10,100 chooses others. */
const SIZES = (process.env["COST_SIZES"] ?? "100,1000,5000").split(",").map(Number);
const SHARES = [0, 0.01, 0.1, 1];
const REPLICAS = 6;
const KB = 1_024;
/** A strongly consistent read is charged by 4 KB. */
const READ_BYTES = 4 * KB;

/** Units of one sync, or of all syncs of a minute divided by their number. */
interface Units {
  readonly state: number;
  readonly journal: number;
  readonly read: number;
}

/**
 * Which autoscalers recommend less in this sync: `share` of all change what they recommend, half of
 * them down and half of them back. All hold, by stabilization.
 */
const dips = (autoscalers: number, share: number, at: number): ReadonlySet<number> => {
  const dipping = share === 1 ? (at % 2) * autoscalers : Math.round((autoscalers * share) / 2);
  // A step that shares no factor with the number of autoscalers visits all of them, and never the
  // same in two syncs.
  return new Set(
    Array.from({ length: dipping }, (_, one) => ((at * dipping + one) * 7_919) % autoscalers),
  );
};

const dollars = (units: { readonly write: number; readonly read: number }): string => {
  const month = (MONTH_SECONDS * 1_000) / PERIOD_MS;
  return (
    month *
    (units.write * DOLLARS_PER_WRITE_UNIT + units.read * DOLLARS_PER_READ_UNIT)
  ).toFixed(2);
};

/**
 * Units of a sync with one item per autoscaler: each is read in every sync, and written in every
 * sync, or only when what it remembers changed.
 */
const naive = (autoscalers: number, share: number, bytes: number) => {
  const [writeUnits, readUnits] = [Math.ceil(bytes / KB), Math.ceil(bytes / READ_BYTES)];
  return {
    always: autoscalers * writeUnits,
    changed: autoscalers * share * writeUnits,
    read: autoscalers * readUnits,
  };
};

/** Bytes of the largest autoscaler stored alone: one item of the design with one item each. */
const largestAlone = async (
  tables: Tables,
  partition: Parameters<typeof readHead>[1],
): Promise<number> => {
  const head = await readHead(tables, partition);
  const generation = head?.pageGeneration ?? 0;
  const page = await readPage(tables, { partition, generation, index: 0 });
  const decoded = page && decodePage(page.body);
  const entries = decoded?.kind === "read" ? [...decoded.entries.values()] : [];
  return Math.max(...entries.map((entry) => encodePage([entry]).length));
};

const play = async (
  autoscalers: number,
  share: number,
): Promise<{ readonly units: Units; readonly pages: number; readonly bytes: number }> => {
  const engine = await startDynalite();
  let nowMs = NOON;
  let consumed = nothingConsumed();
  const plain = testTables(engine.client, engine.tables, () => nowMs);
  const tables = { ...plain, client: metered(engine.client, () => consumed) };
  const partition = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };
  const names = Array.from({ length: autoscalers }, (_, at) => `app-${at}`);
  await store(plain, partition.cluster, names);
  const cluster = loadCluster(names, REPLICAS);
  const ports: SyncPorts = {
    tables,
    insert: insertByStatement(tables),
    connect: async () => cluster.client,
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
  };
  const minute = async (from: number): Promise<void> => {
    for (let at = from; at < from + SYNCS_A_MINUTE; at++) {
      setLoads(cluster, names, dips(autoscalers, share, at));
      const report = await sync(ports, { ...partition, dueMs: nowMs, periodMs: PERIOD_MS });
      if (report.kind !== "completed" || report.events.length > 0)
        throw new Error(`the sync was to hold: ${JSON.stringify(report)}`);
      nowMs += PERIOD_MS;
    }
  };
  for (let minutes = 0; minutes < WARM_MINUTES; minutes++) await minute(minutes * SYNCS_A_MINUTE);
  consumed = nothingConsumed();
  await minute(WARM_MINUTES * SYNCS_A_MINUTE);
  const units = perSync(consumed, engine.tables);
  const pages = (await readHead(plain, partition))?.pages.length ?? 0;
  const bytes = await largestAlone(plain, partition);
  await engine.close();
  return { units, pages, bytes };
};

const setLoads = (
  { loads }: LoadCluster,
  names: readonly string[],
  low: ReadonlySet<number>,
): void => {
  for (const [index, name] of names.entries())
    loads.set(name, (low.has(index) ? REPLICAS - 2 : REPLICAS - 1) + 0.05 + 0.9 * Math.random());
};

const store = async (
  tables: Tables,
  cluster: ReturnType<typeof clusterName>,
  names: readonly string[],
): Promise<void> => {
  const record = {
    name: cluster,
    uid: "uid-of-cluster",
    connection: { kind: "secret", secretId: "unused" },
    partitions: [{ name: WHOLE_CLUSTER }],
    version: 1,
  } as const;
  await putCluster(
    tables,
    { ...record, syncPeriodMs: PERIOD_MS, settings: DEFAULT_SETTINGS },
    undefined,
  );
  const limit = limited(16);
  const put = (name: string, at: number) => {
    const inside = `team-${Math.floor(at / 50)}`;
    const uid = autoscalerUid(randomUUID());
    const times = { createdMs: NOON, updatedMs: NOON, updatedBy: "bench", generation: 1 };
    const manifest = loadManifest(name, inside);
    return putAutoscaler(
      tables,
      {
        cluster,
        namespace: namespace(inside),
        name: autoscalerName(name),
        uid,
        manifest,
        ...times,
      },
      undefined,
    );
  };
  await waitForAll(names.map((name, at) => limit(put, name, at)));
};

const perSync = (
  { writeUnits, readUnits }: Consumed,
  { stateTable, historyTable }: Pick<Tables, "stateTable" | "historyTable">,
): Units => ({
  state: (writeUnits.get(stateTable) ?? 0) / SYNCS_A_MINUTE,
  journal: (writeUnits.get(historyTable) ?? 0) / SYNCS_A_MINUTE,
  read: readUnits / SYNCS_A_MINUTE,
});

/**
 * Capacity of a sync by how many autoscalers there are and how many change what they remember, as
 * the embedded tables count it, beside one item per autoscaler.
 */
export const run = async (): Promise<void> => {
  const head = [
    "autoscalers",
    "changing",
    "pages",
    "state WRU",
    "journal WRU",
    "RRU",
    "$ a month",
    "one item each: WRU",
    "RRU",
    "$ a month",
    "$ if only changed",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: head.map(() => "right"),
  });
  for (const autoscalers of SIZES) {
    for (const share of SHARES) {
      const { units, pages, bytes } = await play(autoscalers, share);
      const other = naive(autoscalers, share, bytes);
      table.push([
        autoscalers,
        `${share * 100} %`,
        pages,
        ...[units.state, units.journal, units.read].map((figure) => figure.toFixed(2)),
        dollars({ write: units.state + units.journal, read: units.read }),
        other.always,
        other.read,
        dollars({ write: other.always, read: other.read }),
        dollars({ write: other.changed, read: other.read }),
      ]);
    }
  }
  const prices =
    "DynamoDB on demand, us-east-1 list of October 2026: $0.625 per million WRU, $0.125 per million RRU; storage apart";
  process.stdout.write(
    `${table.toString()}\nper sync, mean of one minute; one partition, a sync every 15 s, 175,200 a month; warm function; the one item each has no journal\n${prices}\n`,
  );
};
