import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import {
  HOLDER_CONDITION,
  holderValues,
  type Lease,
  mustHold,
  writeHead,
  type Head,
} from "./head.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { getCluster, raiseClusterVersion } from "../records/clusters.ts";

export interface MovingMark {
  /** Version of the cluster before the move. The next version has the new partitions. */
  readonly clusterVersion: number;
  /**
   * At least the epoch of every partition of the move. The id of an event is uid and epoch, and
   * must not repeat in the new partition of an autoscaler.
   */
  readonly epoch: number;
}

/*
 *  mover   claim ── mark 7 ── copy windows ── (stalled, its lease ended) ───────── cluster 7 → 8 ✗
 *         the version is 8
 *  sync                                        claim ── reads mark 7 on cluster 7: 7 → 8, nothing else changed ── goes on
 *
 * A lease ends by clocks, so that it cannot fence the write of another item. The mark does: the
 * next sync that claims the partition ends an abandoned move before it does anything else.
 */
export const markMovingParams = (
  stateTable: string,
  lease: Lease,
  { clusterVersion, epoch }: MovingMark,
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression:
    "SET writeNumber = writeNumber + :one, #token = :token, epoch = :raised, movingVersion = :version",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ...holderValues(lease, token),
    ":raised": { N: String(epoch) },
    ":version": { N: String(clusterVersion) },
  },
});

/**
 * Marks the head: namespaces are about to move under this version of the cluster. Throws
 * `store.lease-lost`.
 */
export const markMoving = async (
  tables: Tables,
  lease: Lease,
  mark: MovingMark,
): Promise<Lease> => {
  if (mark.epoch < lease.epoch) throw new RangeError("an epoch never falls");
  const token = tables.token();
  const params = markMovingParams(tables.stateTable, lease, mark, token);
  mustHold(
    lease,
    "move namespaces of",
    await writeHead(tables, lease.partition, { action: "move namespaces of", token, params }),
  );
  return { ...lease, epoch: mark.epoch, writeNumber: lease.writeNumber + 1 };
};

export interface Adopted {
  readonly generation: number;
  /** For each page, by index: the epoch that wrote it. */
  readonly pages: readonly number[];
  /** At least every time in the windows of the pages. */
  readonly nowMs: number;
}

/*
 *  new generation written ── adopt ── cluster flips
 *         died before the flip ✗: the copied windows belong to no autoscaler of this partition, and
 *         the next sync leaves them out
 */
export const adoptPagesParams = (
  stateTable: string,
  lease: Lease,
  { generation, pages, nowMs }: Adopted,
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression:
    "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, pageGeneration = :generation, pages = :pages",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ...holderValues(lease, token),
    ":now": { N: String(nowMs) },
    ":generation": { N: String(generation) },
    ":pages": { L: pages.map((epoch) => ({ N: String(epoch) })) },
  },
});

/** Names the pages of a new generation while the lease is kept. Throws `store.lease-lost`. */
export const adoptPages = async (
  tables: Tables,
  lease: Lease,
  adopted: Adopted,
): Promise<Lease> => {
  const token = tables.token();
  const params = adoptPagesParams(tables.stateTable, lease, adopted, token);
  mustHold(
    lease,
    "name the pages of",
    await writeHead(tables, lease.partition, { action: "name the pages of", token, params }),
  );
  return { ...lease, writeNumber: lease.writeNumber + 1 };
};

/**
 * The cluster whose partitions this sync uses. A move of namespaces may have marked this partition
 * under the version that the cluster still has, and lost its lease. Then this raises the version
 * first: from now on the abandoned move is refused, or it was completed before, and the partitions
 * read here are the new ones. `undefined`: the cluster was removed.
 */
export const decidedCluster = async (
  tables: Tables,
  cluster: ClusterRecord,
  head: Head,
): Promise<ClusterRecord | undefined> => {
  if (head.movingVersion !== cluster.version) return cluster;
  await raiseClusterVersion(tables, cluster.name, cluster.version);
  return getCluster(tables, cluster.name);
};
