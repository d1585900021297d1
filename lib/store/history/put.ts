import { PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import { ABSENT } from "../records/write.ts";
import { eachDone } from "../table/all-done.ts";
import { itemKey } from "../table/item-key.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { bodyAttribute, readStored } from "./item.ts";
import type { HistoryItem, Inserted, InsertHistory } from "./port.ts";

const PARALLEL = 8;

/*
 *  A  insert event uid:5 "applied" ✓ ── (died)
 *  B                      insert event uid:5 "unknown" ✗     ABSENT: A's event stands, B reads it and goes by it
 */
export const putHistoryParams = (historyTable: string, item: HistoryItem): PutItemCommandInput => ({
  TableName: historyTable,
  Item: { ...itemKey(item), [TTL_ATTRIBUTE]: { N: String(item.ttlSeconds) }, body: bodyAttribute(item.body) },
  ConditionExpression: ABSENT,
});

/** Appends by conditional puts: for engines without PartiQL (the embedded run). On DynamoDB its right would also allow overwriting. */
export const insertByPut = (tables: Tables): InsertHistory => {
  const insert = async (item: HistoryItem): Promise<Inserted> => {
    try {
      await repeat(tables, `insert the history item "${item.sk}"`, () =>
        tables.client.send(new PutItemCommand(putHistoryParams(tables.historyTable, item))),
      );
      return { kind: "inserted" };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { kind: "duplicate", stored: await readStored(tables, item) };
    }
  };
  return (items) => eachDone(items, PARALLEL, insert);
};
