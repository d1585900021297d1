import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../model/errors.ts";
import type { AutoscalerRef } from "../model/ids.ts";
import type { ChangeRecord } from "../model/records.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import { historyItemOf } from "./history-item.ts";
import type { HistoryItem, InsertHistory } from "./history-port.ts";
import { autoscalerHistoryPk, CHANGE_SK_PREFIX, changeKey } from "./keys.ts";
import { readAll } from "./read-all.ts";
import type { Tables } from "./tables.ts";

const changeOf = (item: HistoryItem): ChangeRecord => {
  if (typeof item.body !== "string")
    throw new TidemarkError("store.unreadable", `Cannot read the change "${item.sk}": its body is not text`, { key: item.sk });
  return JSON.parse(item.body) as ChangeRecord;
};

/** Inserts a person's edit before it is made, and returns the one that holds this id: another editor may have been first. */
export const insertChange = async (insert: InsertHistory, change: ChangeRecord): Promise<ChangeRecord> => {
  const [outcome] = await insert([
    { ...changeKey(change, change.id), body: JSON.stringify(change), ttlSeconds: ttlOf(change.atMs, EVENT_DAYS_KEPT) },
  ]);
  return outcome?.kind === "duplicate" ? changeOf(outcome.stored) : change;
};

export const changesParams = (historyTable: string, ref: AutoscalerRef): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: { ":pk": { S: autoscalerHistoryPk(ref) }, ":prefix": { S: CHANGE_SK_PREFIX } },
});

/** Edits of one autoscaler by name, by uid and then generation as text; whether one became valid is told by the generations that exist. */
export async function* changesOf(tables: Tables, ref: AutoscalerRef): AsyncGenerator<ChangeRecord> {
  const params = changesParams(tables.historyTable, ref);
  for await (const item of readAll(tables, `read the changes of "${ref.namespace}/${ref.name}"`, params)) yield changeOf(historyItemOf(item));
}
