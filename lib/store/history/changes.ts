import { isDeepStrictEqual } from "node:util";
import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import type { AutoscalerRef, AutoscalerUid, ClusterName } from "../../model/ids.ts";
import type { ChangeRecord } from "../../model/records.ts";
import { autoscalerHistoryPk, CHANGE_SK_PREFIX, changeKey, clusterChangeKey, clusterChangesPk, timeText } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import { historyItemOf } from "./item.ts";
import type { HistoryItem, InsertHistory } from "./port.ts";

const changeOf = (item: HistoryItem): ChangeRecord => {
  if (typeof item.body !== "string")
    throw new TidemarkError("store.unreadable", `Cannot read the change "${item.sk}": its body is not text`, { key: item.sk });
  return JSON.parse(item.body) as ChangeRecord;
};

/**
 * Inserts an edit before it is made, and returns the stored edit of this id: another editor may have been first. It is inserted twice. The first insert, under its autoscaler, decides;
 * the second is under its cluster. An editor that dies between the two does not make the edit.
 */
export const insertChange = async (insert: InsertHistory, change: ChangeRecord): Promise<ChangeRecord> => {
  const rest = { body: JSON.stringify(change), ttlSeconds: ttlOf(change.atMs, EVENT_DAYS_KEPT) };
  const [outcome] = await insert([{ ...changeKey(change, change.id), ...rest }]);
  const stored = outcome?.kind === "duplicate" ? changeOf(outcome.stored) : change;
  // An equal stored edit is this one, inserted by an earlier attempt of the same call.
  if (isDeepStrictEqual(stored, change)) await insert([{ ...clusterChangeKey(change.cluster, change), ...rest }]);
  return stored;
};

export const changesParams = (historyTable: string, ref: AutoscalerRef): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: { ":pk": { S: autoscalerHistoryPk(ref) }, ":prefix": { S: CHANGE_SK_PREFIX } },
});

/** Edits of one autoscaler by name, in order of uid and then of generation as text. The existing generations decide which edits took effect. */
export async function* changesOf(tables: Tables, ref: AutoscalerRef): AsyncGenerator<ChangeRecord> {
  const params = changesParams(tables.historyTable, ref);
  for await (const item of readAll(tables, `read the changes of "${ref.namespace}/${ref.name}"`, params)) yield changeOf(historyItemOf(item));
}

export const changesOfUidParams = (historyTable: string, ref: AutoscalerRef, uid: AutoscalerUid): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: { ":pk": { S: autoscalerHistoryPk(ref) }, ":prefix": { S: `${CHANGE_SK_PREFIX}${uid}:` } },
  ConsistentRead: true,
});

/**
 * True when another edit is based on this generation: its editor has read the record with it, so this generation was stored. An editor inserts its change before it writes the record,
 * so that no write over this generation is missed.
 */
export const isBaseOfChange = async (tables: Tables, ref: AutoscalerRef, uid: AutoscalerUid, generation: number): Promise<boolean> => {
  const params = changesOfUidParams(tables.historyTable, ref, uid);
  for await (const item of readAll(tables, `read the changes of "${ref.namespace}/${ref.name}"`, params)) {
    if (changeOf(historyItemOf(item)).baseGeneration === generation) return true;
  }
  return false;
};

export const clusterChangesParams = (historyTable: string, cluster: ClusterName, sinceMs: number): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk >= :since",
  ExpressionAttributeValues: { ":pk": { S: clusterChangesPk(cluster) }, ":since": { S: `${CHANGE_SK_PREFIX}${timeText(Math.max(0, sinceMs))}` } },
});

/** Edits of every autoscaler of a cluster, also of deleted ones, in order of time and page by page. */
export async function* changesOfCluster(tables: Tables, cluster: ClusterName, sinceMs: number): AsyncGenerator<ChangeRecord> {
  const params = clusterChangesParams(tables.historyTable, cluster, sinceMs);
  for await (const item of readAll(tables, `read the changes of cluster "${cluster}"`, params)) yield changeOf(historyItemOf(item));
}
