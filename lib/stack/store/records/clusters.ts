import {
  type AttributeValue,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../../rules/model/errors.ts";
import type {
  ClusterName,
  Namespace,
  PartitionName,
  PartitionRef,
} from "../../../rules/model/ids.ts";
import type {
  ClusterRecord,
  Connection,
  ConnectionRecord,
  FleetRecord,
} from "../../../rules/model/records.ts";
import {
  CLUSTER_SK_PREFIX,
  CONNECTIONS_PK,
  clusterKey,
  connectionKey,
  editsKey,
  FLEET_PK,
  fleetKey,
  itemKey,
} from "../table/keys.ts";
import { itemsUnder, readAll } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import {
  attributesOf,
  clusterSchema,
  connectionSchema,
  fleetSchema,
  recordIn,
  type RecordItem,
} from "./schemas.ts";
import {
  isTombstone,
  deleteRecord,
  lastCount,
  putRecord,
  type RecordWrite,
  readRecord,
} from "./write.ts";
import { type AutoscalerItem, listAutoscalers } from "./autoscalers.ts";

/**
 * A cluster as its item holds it, or why it cannot be read. An unreadable item stops only its own
 * cluster.
 */
export type ClusterItem = RecordItem<ClusterRecord, { name: string }>;

const itemOf = (item: Readonly<Record<string, AttributeValue>>): ClusterItem =>
  recordIn(item, clusterSchema, { name: (item["sk"]?.S ?? "").slice(CLUSTER_SK_PREFIX.length) });

/** Reads one cluster strongly; absent when there is none. Throws `store.unreadable`. */
export const getCluster = async (
  tables: Tables,
  name: ClusterName,
): Promise<ClusterRecord | undefined> => {
  const item = await readRecord(tables, `read cluster "${name}"`, clusterKey(name));
  if (!item) return undefined;
  const read = itemOf(item);
  if (read.kind === "read") return read.record;
  throw new TidemarkError("store.unreadable", `Cannot read cluster "${name}": ${read.message}`, {
    cluster: name,
  });
};

export const listClustersParams = (stateTable: string): QueryCommandInput => ({
  TableName: stateTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: { ":pk": { S: FLEET_PK }, ":prefix": { S: CLUSTER_SK_PREFIX } },
  ConsistentRead: true,
});

/** Every cluster in order of name, page by page. */
export async function* listClusters(tables: Tables): AsyncGenerator<ClusterItem> {
  for await (const item of readAll(
    tables,
    "list the clusters",
    listClustersParams(tables.stateTable),
  ))
    if (!isTombstone(item)) yield itemOf(item);
}

/**
 * Stores a record with its new version, if the stored record has its uid and the version
 * `expected`. Without `expected` it adds the cluster: none may be stored, and its version must be
 * above the version of a removed one (`lastVersion`).
 */
export const putCluster = (
  tables: Tables,
  record: ClusterRecord,
  expected: number | undefined,
): Promise<RecordWrite> =>
  putRecord(tables, `store cluster "${record.name}"`, {
    key: clusterKey(record.name),
    record,
    expected: {
      counter: "version",
      ...(expected !== undefined && { value: expected, uid: record.uid }),
    },
  });

/**
 * Reads the connection of a cluster strongly; absent where none is stored for a cluster of this
 * name. Throws `store.unreadable`.
 */
export const getConnection = async (
  tables: Tables,
  name: ClusterName,
): Promise<ConnectionRecord | undefined> => {
  const item = await readRecord(
    tables,
    `read the connection of cluster "${name}"`,
    connectionKey(name),
  );
  return item && connectionOf(item);
};

const connectionOf = (item: Readonly<Record<string, AttributeValue>>): ConnectionRecord => {
  const parsed = connectionSchema.safeParse(attributesOf(item));
  if (parsed.success) return parsed.data;
  const cluster = item["sk"]?.S ?? "";
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the connection of cluster "${cluster}": ${parsed.error.message}`,
    { cluster },
  );
};

/** Every stored connection, page by page. */
export async function* listConnections(tables: Tables): AsyncGenerator<ConnectionRecord> {
  for await (const item of readAll(
    tables,
    "list the connections",
    itemsUnder(tables, CONNECTIONS_PK),
  ))
    yield connectionOf(item);
}

/** A connection, and what the cluster that it reached said of itself when it was looked at. */
export type Reached = Pick<ConnectionRecord, "connection" | "kubeSystemUid" | "server">;

/** The connection, where it was stored for this cluster, and not for an earlier one of its name. */
export const reachedBy = (
  cluster: Pick<ClusterRecord, "uid"> | undefined,
  stored: ConnectionRecord | undefined,
): Reached | undefined => (cluster && stored && stored.uid === cluster.uid ? stored : undefined);

export const connectionFor = (
  cluster: Pick<ClusterRecord, "uid"> | undefined,
  stored: ConnectionRecord | undefined,
): Connection | undefined => reachedBy(cluster, stored)?.connection;

/** The connection of this version of a cluster, as it is stored. */
export const connectionRecord = (
  { name, uid, version }: ClusterRecord,
  { connection, kubeSystemUid, server }: Reached,
): ConnectionRecord => ({
  cluster: name,
  uid,
  connection,
  ...(kubeSystemUid !== undefined && { kubeSystemUid }),
  ...(server && { server }),
  version,
});

/**
 * Stores a connection if the stored one is still the `expected` one. Write the cluster with a new
 * version after it: each environment reads the connection once for each version.
 */
export const putConnection = (
  tables: Tables,
  record: ConnectionRecord,
  expected: ConnectionRecord | undefined,
): Promise<RecordWrite> =>
  putRecord(tables, `store the connection of cluster "${record.cluster}"`, {
    key: connectionKey(record.cluster),
    record,
    expected: {
      counter: "version",
      ...(expected && { value: expected.version, uid: expected.uid }),
    },
  });

/*
 *  mover   reads 7 ── mark 7 ─ ─ ─ (stalled) ─ ─ ─ flip 7 → 8 ✗     the version is 8
 *  sync                    reads mark 7 ── raises 7 → 8
 */
export const raiseClusterVersionParams = (
  stateTable: string,
  name: ClusterName,
  expected: number,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(clusterKey(name)),
  UpdateExpression: "SET version = :next",
  ConditionExpression: "version = :expected",
  ExpressionAttributeValues: {
    ":next": { N: String(expected + 1) },
    ":expected": { N: String(expected) },
  },
});

/**
 * Raises the version of a cluster and changes nothing else, unless it was raised already. It
 * updates this one attribute, because a sync has no right to write other attributes of a cluster
 * (infra/roles.yml). Read the cluster after it: the stored record then counts.
 */
export const raiseClusterVersion = async (
  tables: Tables,
  name: ClusterName,
  expected: number,
): Promise<void> => {
  const params = raiseClusterVersionParams(tables.stateTable, name, expected);
  // Where it is refused an edit was first, or this is the repeat of a request that was executed. In
  // both cases the version has changed.
  await wasExecuted(tables, `raise the version of cluster "${name}"`, () =>
    tables.client.send(new UpdateItemCommand(params)),
  );
};

/** Deletes the cluster with this uid and the version `expected`. */
export const deleteCluster = (
  tables: Tables,
  record: Pick<ClusterRecord, "name" | "uid">,
  expected: number,
): Promise<RecordWrite> =>
  deleteRecord(tables, `delete cluster "${record.name}"`, {
    key: clusterKey(record.name),
    expected: { counter: "version", value: expected, uid: record.uid },
  });

/**
 * The last version of a cluster of this name that was removed within a day; 0 when there is none.
 */
export const lastVersion = (tables: Tables, name: ClusterName): Promise<number> =>
  lastCount(tables, `read cluster "${name}"`, clusterKey(name), "version");

/**
 * Reads the fleet record strongly, with the number of its edits; version 0 when none was stored
 * yet. On doubt, stop: while the kill switch is unreadable this throws `store.unreadable`.
 */
export const getFleet = async (
  tables: Tables,
): Promise<FleetRecord & { readonly version: number }> => {
  const item = await readRecord(tables, "read the fleet record", fleetKey);
  return item ? fleetOf(item) : { version: 0 };
};

const fleetOf = (
  item: Readonly<Record<string, AttributeValue>>,
): FleetRecord & { readonly version: number } => {
  const plain = attributesOf(item);
  const parsed = fleetSchema.safeParse(plain);
  const version = Number(plain["version"]);
  if (parsed.success && Number.isInteger(version)) return { ...parsed.data, version };
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the fleet record: ${parsed.error?.message ?? "it has no version"}`,
    {},
  );
};

export const readFleetParams = (stateTable: string, after = ""): QueryCommandInput => ({
  TableName: stateTable,
  KeyConditionExpression: "pk = :pk AND sk BETWEEN :first AND :fleet",
  ExpressionAttributeValues: {
    ":pk": { S: FLEET_PK },
    ":first": { S: `${CLUSTER_SK_PREFIX}${after}` },
    ":fleet": { S: fleetKey.sk },
  },
  ConsistentRead: true,
});

/** All that stands under the key of the fleet. */
export interface WholeFleet {
  /**
   * Throws `store.unreadable`. Only an answer that needs the record fails where it cannot be read.
   */
  readonly fleet: () => FleetRecord;
  /** In order of name. */
  readonly clusters: readonly ClusterItem[];
  /** When a person last edited an autoscaler; 0 where that is not known. */
  readonly editedMs: number;
}

/**
 * The fleet record, the newest edit and the clusters, or those after the one that is named, in one
 * strong query: for readers of many autoscalers.
 */
export const readFleet = async (tables: Tables, after = ""): Promise<WholeFleet> => {
  const items = await Array.fromAsync(
    readAll(tables, "read the fleet and its clusters", readFleetParams(tables.stateTable, after)),
  );
  const itemAt = (sk: string) => items.find((item) => item["sk"]?.S === sk);
  const fleet = itemAt(fleetKey.sk);
  const ofClusters = items.filter(
    (item) =>
      item["sk"]?.S?.startsWith(CLUSTER_SK_PREFIX) && item["sk"].S > `${CLUSTER_SK_PREFIX}${after}`,
  );
  return {
    fleet: () => (fleet && !isTombstone(fleet) ? fleetOf(fleet) : { version: 0 }),
    clusters: ofClusters.filter((item) => !isTombstone(item)).map(itemOf),
    editedMs: Number(itemAt(editsKey.sk)?.["atMs"]?.N ?? 0),
  };
};

/** Stores the fleet record if its version is still `expected` (0: none is stored). */
export const putFleet = (
  tables: Tables,
  record: FleetRecord,
  expected: number,
): Promise<RecordWrite> =>
  putRecord(tables, "store the fleet record", {
    key: fleetKey,
    record: { ...record, version: expected + 1 },
    expected: { counter: "version", ...(expected > 0 && { value: expected }) },
  });

export type Partitions = Pick<ClusterRecord, "name" | "partitions">;

/**
 * The partition of a namespace: the one that names it, otherwise the one without a list; absent
 * when there is neither.
 */
export const partitionOf = (cluster: Partitions, namespace: Namespace): PartitionName | undefined =>
  (
    cluster.partitions.find(({ namespaces }) => namespaces?.includes(namespace)) ??
    cluster.partitions.find(({ namespaces }) => namespaces === undefined)
  )?.name;

/**
 * True where one partition has all namespaces that no other names. Otherwise there may be
 * autoscalers that no sync and no index knows.
 */
export const hasRest = ({ partitions }: Partitions): boolean =>
  partitions.some(({ namespaces }) => namespaces === undefined);

/** The namespaces that a sync of the partition reads: the namespaces of its list, or all. */
export const namespacesOf = (
  cluster: Partitions,
  partition: PartitionName,
): readonly Namespace[] | "all" =>
  cluster.partitions.find(({ name }) => name === partition)?.namespaces ?? "all";

/** The autoscalers of a partition, in order of namespace and name. */
export async function* autoscalersOf(
  tables: Tables,
  cluster: Partitions,
  { partition }: PartitionRef,
): AsyncGenerator<AutoscalerItem> {
  const namespaces = namespacesOf(cluster, partition);
  if (namespaces !== "all") {
    for (const namespace of [...namespaces].sort())
      yield* listAutoscalers(tables, cluster.name, namespace);
    return;
  }
  for await (const item of listAutoscalers(tables, cluster.name)) {
    const namespace = item.kind === "read" ? item.record.namespace : (item.namespace as Namespace);
    if (partitionOf(cluster, namespace) === partition) yield item;
  }
}
