import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { ScopeChangeRecord } from "../../../rules/model/changes.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { type ClusterName, clusterName } from "../../../rules/model/ids.ts";
import {
  CHANGE_SK_PREFIX,
  type Key,
  REMOVED_CLUSTERS_PK,
  removedClusterKey,
  sortableMs,
} from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import { type HistoryItem, historyItemOf, type InsertHistory, LAST } from "./item.ts";

/**
 * Partition key of the edits of one cluster, of the fleet or of one partition. No autoscaler or day
 * has such a key. The edits of the wakes of a cluster stand among the edits of the cluster, so that
 * a reader of both asks once.
 */
const scopePk = ({ scope, name }: Pick<ScopeChangeRecord, "scope" | "name">): string =>
  `changes#${scope === "wake" ? "cluster" : scope}#${name}`;

/**
 * The key begins with the time, because a cluster that was removed and added again may repeat its
 * versions. The id separates two edits of one instant.
 */
const scopeChangeKey = (change: ScopeChangeRecord): Key => ({
  pk: scopePk(change),
  sk: `${CHANGE_SK_PREFIX}${sortableMs(change.atMs)}#${change.id}`,
});

/**
 * Inserts an edit of a cluster, the fleet or a partition before it is made. That a cluster is
 * removed is noted beside it, so that its history is found when the cluster is gone.
 */
export const insertScopeChange = async (
  insert: InsertHistory,
  change: ScopeChangeRecord,
): Promise<void> => {
  const ttlSeconds = ttlOf(change.atMs, EVENT_DAYS_KEPT);
  const { scope, verb, name, atMs } = change;
  const isRemoval = scope === "cluster" && verb === "remove";
  await insert([
    { ...scopeChangeKey(change), body: JSON.stringify(change), ttlSeconds },
    ...(isRemoval ? [{ ...removedClusterKey(name, atMs), body: "removed", ttlSeconds }] : []),
  ]);
};

/**
 * Clusters that were removed since an instant, each once. The removal may not have been made at
 * last, and another cluster may have the name again.
 */
export const removedClusters = async (
  tables: Tables,
  sinceMs: number,
): Promise<readonly ClusterName[]> => {
  const params: QueryCommandInput = {
    TableName: tables.historyTable,
    KeyConditionExpression: "pk = :pk AND sk >= :since",
    ExpressionAttributeValues: {
      ":pk": { S: REMOVED_CLUSTERS_PK },
      ":since": { S: sortableMs(Math.max(0, sinceMs)) },
    },
  };
  const names = new Set<ClusterName>();
  for await (const item of readAll(tables, "list the removed clusters", params))
    names.add(clusterName(historyItemOf(item).sk.split("#")[1] ?? ""));
  return [...names];
};

export const scopeChangeOf = (item: HistoryItem): ScopeChangeRecord => {
  if (typeof item.body === "string") return JSON.parse(item.body) as ScopeChangeRecord;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the change "${item.sk}": its body is not text`,
    { key: item.sk },
  );
};

export const scopeChangesParams = (
  historyTable: string,
  scope: Pick<ScopeChangeRecord, "scope" | "name">,
  sinceMs = 0,
): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :last",
  ExpressionAttributeValues: {
    ":pk": { S: scopePk(scope) },
    ":since": { S: `${CHANGE_SK_PREFIX}${sortableMs(Math.max(0, sinceMs))}` },
    ":last": { S: `${CHANGE_SK_PREFIX}${LAST}` },
  },
  // An edit looks for the one that came after it.
  ConsistentRead: true,
});

/**
 * Edits of one cluster, of its wakes, of one partition or of the fleet since an instant, in order
 * of time.
 */
export async function* scopeChangesOf(
  tables: Tables,
  scope: Pick<ScopeChangeRecord, "scope" | "name">,
  sinceMs = 0,
): AsyncGenerator<ScopeChangeRecord> {
  const params = scopeChangesParams(tables.historyTable, scope, sinceMs);
  for await (const item of readAll(
    tables,
    `read the changes of ${scope.scope} "${scope.name}"`,
    params,
  )) {
    const change = scopeChangeOf(historyItemOf(item));
    if (change.scope === scope.scope) yield change;
  }
}

/**
 * When a cluster was added, if its oldest stored edit says so: then it has no earlier event.
 * `undefined` means that the first edit has expired, or that the cluster is older than the storage
 * of edits.
 */
export const addedMs = async (
  tables: Tables,
  cluster: ClusterName,
): Promise<number | undefined> => {
  const params = {
    ...scopeChangesParams(tables.historyTable, { scope: "cluster", name: cluster }),
    Limit: 1,
  };
  for await (const item of readAll(
    tables,
    `read the first change of cluster "${cluster}"`,
    params,
  )) {
    const { scope, verb, atMs } = scopeChangeOf(historyItemOf(item));
    return scope === "cluster" && verb === "add" ? atMs : undefined;
  }
  return undefined;
};
