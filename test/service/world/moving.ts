import {
  type Namespace,
  namespace,
  type PartitionName,
  partitionName,
  WHOLE_CLUSTER,
} from "../../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../../lib/rules/model/records.ts";
import type { SyncReport } from "../../../lib/stack/report/sync-report.ts";
import type { ServiceContext } from "../../../lib/answers/service/context.ts";
import { type Head, readHead } from "../../../lib/stack/store/head/head.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { decodePage } from "../../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../../lib/stack/store/pages/pages.ts";
import { putAutoscaler } from "../../../lib/stack/store/records/autoscalers.ts";
import { getCluster, partitionOf } from "../../../lib/stack/store/records/clusters.ts";
import { sync } from "../../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { startMemory } from "../../contracts/engines.ts";
import type { TableClient } from "../../contracts/faults.ts";
import { newWorld, PERIOD_MS, type World } from "../../sync/world.ts";
import type { StoredWindows } from "../../../lib/rules/model/scale-records.ts";

export const [SHOP, CART, INFRA] = [namespace("shop"), namespace("cart"), namespace("infra")];
export const [REST, SHOPS] = [WHOLE_CLUSTER, partitionName("shops")];

/**
 * A cluster of which the namespaces can be divided anew: an autoscaler "<namespace>-<n>" for each
 * of two in three namespaces.
 */
export interface Moving {
  readonly world: World;
  /**
   * A context whose calls to the tables go through `client`; its waits move the clock by a period
   * and sync everything.
   */
  context(client?: TableClient): ServiceContext;
  readonly cluster: () => Promise<ClusterRecord>;
  readonly head: (partition: PartitionName) => Promise<Head>;
  /** Syncs every partition that the cluster has, one period later. */
  syncAll(ports?: SyncPorts): Promise<readonly SyncReport[]>;
  /** By uid, what the page of the partition that decides it says. */
  windows(): Promise<ReadonlyMap<string, StoredWindows["windows"]>>;
}

export const newMoving = async (): Promise<Moving> => {
  const engine = await startMemory();
  const world = await newWorld(engine.client, engine.tables, {});
  const { name } = world.record;
  const cluster = async (): Promise<ClusterRecord> => {
    const found = await getCluster(world.tables, name);
    if (!found) throw new Error("the cluster is gone");
    return found;
  };
  for (const inside of [SHOP, CART, INFRA])
    for (const at of [1, 2]) await add(world, inside, `${inside}-${at}`);
  const head = async (partition: PartitionName): Promise<Head> => {
    const found = await readHead(world.tables, { cluster: name, partition });
    if (!found) throw new Error(`partition ${partition} has no head`);
    return found;
  };
  const warm = world.worker();
  const syncAll = async (ports = warm): Promise<readonly SyncReport[]> => {
    world.nowMs += PERIOD_MS;
    const reports: SyncReport[] = [];
    for (const { name: partition } of (await cluster()).partitions) {
      reports.push(
        await sync(ports, { cluster: name, partition, dueMs: world.nowMs, periodMs: PERIOD_MS }),
      );
    }
    return reports;
  };
  return {
    world,
    cluster,
    head,
    syncAll,
    context: (client = world.tables.client) => {
      const tables = { ...world.tables, client, wait: async () => void (await syncAll()) };
      return {
        tables,
        insert: insertByStatement(tables),
        clock: () => world.nowMs,
        by: "ada",
        newUid: () => "new",
      };
    },
    windows: async () => {
      const all = new Map<string, StoredWindows["windows"]>();
      const record = await cluster();
      for (const { name: partition } of record.partitions) {
        const decided = (await stored(world, partition)).filter(
          ({ uid }) => partitionOf(record, namespaceOf(uid)) === partition,
        );
        for (const { uid, windows } of decided) all.set(uid, windows);
      }
      return all;
    },
  };
};

/** "uid-<namespace>-<n>" */
const namespaceOf = (uid: string): Namespace => namespace(uid.split("-")[1] ?? "");

const add = async (world: World, inside: Namespace, name: string): Promise<void> => {
  world.cluster.workloads.set(name, {
    uid: `uid-of-${name}`,
    replicas: 3,
    resourceVersion: 1,
    generation: 1,
    demand: 3,
  });
  await putAutoscaler(world.tables, { ...world.autoscaler(name), namespace: inside }, undefined);
};

const stored = async (
  { tables, record }: World,
  partition: PartitionName,
): Promise<readonly StoredWindows[]> => {
  const ref = { cluster: record.name, partition };
  const head = await readHead(tables, ref);
  const entries: StoredWindows[] = [];
  for (const index of head?.pages.keys() ?? []) {
    const item = await readPage(tables, {
      partition: ref,
      generation: head?.pageGeneration ?? 0,
      index,
    });
    const page = item && decodePage(item.body);
    if (page?.kind !== "read") throw new Error(`page ${index} of ${partition} cannot be read`);
    entries.push(...page.entries.values());
  }
  return entries;
};
