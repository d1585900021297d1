import { DeleteItemCommand, GetItemCommand, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { itemKey } from "./item-key.ts";
import type { Key } from "./keys.ts";
import { isRefusal, repeat } from "./repeat.ts";
import type { Tables } from "./tables.ts";

/** How a conditional write of a record ended; `conflict`: somebody else wrote it since it was read. */
export type RecordWrite = { readonly kind: "stored" } | { readonly kind: "conflict" };

/** The attribute that counts the edits of a record, and its value as it was read; absent when the record must not exist. */
export interface Expected {
  readonly counter: "generation" | "version";
  readonly value?: number;
}

/*
 *  A  reads generation 4 ──────── writes 5
 *  B  reads generation 4 ─────────────── writes 5 ✗   UNCHANGED: generation is 5; B reads again and looks at what A did
 */
export const ABSENT = "attribute_not_exists(pk)";
export const UNCHANGED = "#counter = :expected";

export const putRecordParams = (
  stateTable: string,
  write: { readonly key: Key; readonly record: object; readonly expected: Expected; readonly token: string },
): PutItemCommandInput => ({
  TableName: stateTable,
  Item: { ...marshall({ ...write.record }, { removeUndefinedValues: true }), ...itemKey(write.key), token: { S: write.token } },
  ...(write.expected.value === undefined
    ? { ConditionExpression: ABSENT }
    : {
        ConditionExpression: UNCHANGED,
        ExpressionAttributeNames: { "#counter": write.expected.counter },
        ExpressionAttributeValues: { ":expected": { N: String(write.expected.value) } },
      }),
});

/** Writes a record under its condition. A refusal met by a repeat of our own write is told by its token, read strongly. */
export const putRecord = async (
  tables: Tables,
  action: string,
  write: { readonly key: Key; readonly record: object; readonly expected: Expected },
): Promise<RecordWrite> => {
  const token = tables.token();
  const params = putRecordParams(tables.stateTable, { ...write, token });
  try {
    await repeat(tables, action, () => tables.client.send(new PutItemCommand(params)));
    return { kind: "stored" };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const found = await readRecord(tables, action, write.key);
    return found?.["token"]?.S === token ? { kind: "stored" } : { kind: "conflict" };
  }
};

/** Deletes a record as it was read. Found absent, it counts as deleted: that is what was wanted, whoever did it. */
export const deleteRecord = async (
  tables: Tables,
  action: string,
  target: { readonly key: Key; readonly expected: Required<Expected> },
): Promise<RecordWrite> => {
  const params = {
    TableName: tables.stateTable,
    Key: itemKey(target.key),
    ConditionExpression: UNCHANGED,
    ExpressionAttributeNames: { "#counter": target.expected.counter },
    ExpressionAttributeValues: { ":expected": { N: String(target.expected.value) } },
  };
  try {
    await repeat(tables, action, () => tables.client.send(new DeleteItemCommand(params)));
    return { kind: "stored" };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return (await readRecord(tables, action, target.key)) === undefined ? { kind: "stored" } : { kind: "conflict" };
  }
};

/** One item of the state table, read strongly. */
export const readRecord = async (tables: Tables, action: string, key: Key) => {
  const params = { TableName: tables.stateTable, Key: itemKey(key), ConsistentRead: true };
  const { Item } = await repeat(tables, action, () => tables.client.send(new GetItemCommand(params)));
  return Item;
};
