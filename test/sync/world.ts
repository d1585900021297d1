import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  type PartitionRef,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { type Head, readHead } from "../../lib/stack/store/head/head.ts";
import { eventsOfFleet } from "../../lib/stack/store/history/fleet-events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING, type Timing } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import type { TableClient } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { demandRules } from "./demand-rules.ts";
import { type MemoryCluster, memoryCluster, type Workload } from "./memory-cluster.ts";
import type { EventRecord, ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";

export const PERIOD_MS = 15_000;
const NAMESPACE = namespace("shop");

/** Long enough that no sync counts as one after an edit. */
const EDITED_AGO_MS = 3_600_000;

let clusters = 0;
let tokens = 0;

/**
 * A cluster of its own in shared tables: its clock, its workloads, and workers with a warm cache
 * each.
 */
export interface World {
  readonly cluster: MemoryCluster;
  readonly record: ClusterRecord;
  readonly partition: PartitionRef;
  readonly tables: Tables;
  nowMs: number;
  /** Ports of a new environment, with the given parts replaced. */
  worker(parts?: Partial<SyncPorts>): SyncPorts;
  /** Syncs the due time that the clock has reached. */
  sync(ports?: SyncPorts): Promise<SyncReport>;
  head(): Promise<Head>;
  events(): Promise<readonly ScaleEventRecord[]>;
  /** Changes of counts that no sync has made. */
  outside(): Promise<readonly EventRecord[]>;
  autoscaler(name: string, generation?: number): AutoscalerRecord;
}

export const autoscalerRecord = (
  cluster: ClusterRecord["name"],
  name: string,
  generation = 1,
): AutoscalerRecord => ({
  cluster,
  namespace: NAMESPACE,
  name: autoscalerName(name),
  uid: autoscalerUid(`uid-${name}`),
  generation,
  manifest: name,
  createdMs: NOON - EDITED_AGO_MS,
  updatedMs: NOON - EDITED_AGO_MS,
  updatedBy: "test",
});

export const testTables = (
  client: TableClient,
  names: Pick<Tables, "stateTable" | "historyTable">,
  clock: () => number,
): Tables => ({
  client,
  ...names,
  clock,
  wait: () => Promise.resolve(),
  random: () => 0,
  token: () => `token-${++tokens}`,
});

export const collected = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Stores a cluster with one autoscaler per workload. */
export const newWorld = async (
  client: TableClient,
  names: Pick<Tables, "stateTable" | "historyTable">,
  workloads: Readonly<Record<string, number>>,
  options: {
    readonly generations?: boolean;
    readonly rateWindowMs?: number;
    readonly timing?: Partial<Timing>;
    readonly manifestOf?: (name: string) => string;
    readonly namespaceOf?: (name: string) => string;
    readonly newUid?: () => string;
  } = {},
): Promise<World> => {
  const cluster = memoryCluster(workloads, options);
  const name = clusterName(`eu-${++clusters}`);
  const record: ClusterRecord = {
    name,
    uid: "uid-of-cluster",
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  };
  const partition = { cluster: name, partition: WHOLE_CLUSTER };
  const tables = testTables(client, names, () => world.nowMs);
  await putCluster(tables, record, undefined);
  const manifestOf = options.manifestOf ?? ((workload) => workload);
  for (const workload of Object.keys(workloads))
    await putAutoscaler(
      tables,
      {
        ...autoscalerRecord(name, workload),
        ...(options.namespaceOf && { namespace: namespace(options.namespaceOf(workload)) }),
        ...(options.newUid && { uid: autoscalerUid(options.newUid()) }),
        manifest: manifestOf(workload),
      },
      undefined,
    );
  const worker = (parts: Partial<SyncPorts> = {}): SyncPorts => ({
    tables,
    insert: insertByStatement(parts.tables ?? tables),
    connect: () => Promise.resolve(cluster.client),
    rules: demandRules(cluster, options.rateWindowMs),
    timing: { ...DEFAULT_TIMING, ...options.timing },
    cache: warmCache(),
    ...parts,
  });
  const world: World = {
    cluster,
    record,
    partition,
    tables,
    nowMs: NOON,
    worker,
    sync: (ports = worker()) =>
      sync(ports, {
        ...partition,
        dueMs: world.nowMs - (world.nowMs % PERIOD_MS),
        periodMs: PERIOD_MS,
      }),
    head: async () => {
      const head = await readHead(tables, partition);
      if (!head) throw new Error("there is no head");
      return head;
    },
    events: async () =>
      (await all()).filter((event): event is ScaleEventRecord => event.outcome !== "outside"),
    outside: async () => (await all()).filter(({ outcome }) => outcome === "outside"),
    autoscaler: (workload, generation) => autoscalerRecord(name, workload, generation),
  };
  const all = (): Promise<readonly EventRecord[]> =>
    collected(eventsOfFleet(tables, [name], { sinceMs: 0, untilMs: world.nowMs + 86_400_000 }));
  cluster.clock = () => world.nowMs;
  return world;
};

/** A workload that must be there. */
export const workloadOf = (world: World, name: string): Workload => {
  const found = world.cluster.workloads.get(name);
  if (!found) throw new Error(`there is no workload "${name}"`);
  return found;
};
