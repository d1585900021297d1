import {
  PutItemCommand,
  type PutItemCommandInput,
  type AttributeValue,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { DELETED, itemKey, type Key } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

/**
 * How a conditional write of a record ended. `conflict` means that another editor wrote the record
 * since it was read.
 */
export type RecordWrite = { readonly kind: "stored" } | { readonly kind: "conflict" };

export interface Expected {
  /** The attribute that counts the edits of the record. */
  readonly counter: "generation" | "version";
  /** Its value as it was read; absent when no record may exist. */
  readonly value?: number;
  /**
   * The uid of the record as it was read; absent for records without one. A record of the same name
   * with another uid is another record.
   */
  readonly uid?: string;
}

/*
 *  A  reads uid a, generation 4 ──── writes 5
 *  B  reads uid a, generation 4 ─────────── writes 5 ✗
 *         UNCHANGED: the generation is 5; B reads again and finds the edit of A
 *  C  reads uid a, generation 1 ─ delete, create: uid b, generation 3 ─ writes 2 ✗
 *         SAME_RECORD: the uid is b
 *  D  creates generation 1 (answer lost) ─ deleted: tombstone 2 ─ repeats the create ✗
 *         OLDER_TOMBSTONE: 1 is not above 2
 */
export const ABSENT = "attribute_not_exists(pk)";
const OLDER_TOMBSTONE = `attribute_exists(${DELETED}) AND #counter < :new`;
const UNCHANGED = "#counter = :expected";
const SAME_RECORD = "uid = :uid";
const WITHOUT_UID = "attribute_not_exists(uid)";
const ALIVE = `attribute_not_exists(${DELETED})`;

export interface RecordPut {
  readonly key: Key;
  readonly record: object;
  readonly expected: Expected;
}

const conditionOf = ({ record, expected: { counter, value, uid } }: RecordPut) => {
  const names = { "#counter": counter };
  if (value === undefined) {
    const created: unknown = Reflect.get(record, counter);
    const values = { ":new": { N: String(created) } };
    // AND binds before OR. Parentheses would say the same, but the embedded engine parses them
    // three times as long.
    return {
      ConditionExpression: `${OLDER_TOMBSTONE} OR ${ABSENT}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    };
  }
  return {
    ConditionExpression: [UNCHANGED, uid === undefined ? WITHOUT_UID : SAME_RECORD, ALIVE].join(
      " AND ",
    ),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ":expected": { N: String(value) },
      ...(uid !== undefined && { ":uid": { S: uid } }),
    },
  };
};

export const putRecordParams = (
  stateTable: string,
  write: RecordPut & { readonly token: string },
): PutItemCommandInput => ({
  TableName: stateTable,
  Item: {
    ...marshall({ ...write.record }, { removeUndefinedValues: true }),
    ...itemKey(write.key),
    token: { S: write.token },
  },
  ...conditionOf(write),
});

/**
 * Writes a record under its condition. When a repeat of this write is refused, the token of the
 * stored record shows whether the first attempt took effect.
 */
export const putRecord = async (
  tables: Tables,
  action: string,
  write: RecordPut,
): Promise<RecordWrite> => {
  const token = tables.token();
  const params = putRecordParams(tables.stateTable, { ...write, token });
  if (await wasExecuted(tables, action, () => tables.client.send(new PutItemCommand(params))))
    return { kind: "stored" };
  const stored = await getItem(tables, action, write.key);
  return { kind: stored?.["token"]?.S === token ? "stored" : "conflict" };
};

/**
 * Deletes a record as it was read: a tombstone with the next count of its edits replaces it. So a
 * late repeat of an earlier edit is refused. The token of the tombstone marks the repeat of this
 * delete from the delete of another editor, which is a conflict.
 */
export const deleteRecord = (
  tables: Tables,
  action: string,
  target: { readonly key: Key; readonly expected: Expected & Required<Pick<Expected, "value">> },
): Promise<RecordWrite> => {
  const { key, expected } = target;
  return putRecord(tables, action, {
    key,
    record: tombstoneOf(expected, tables.clock()),
    expected,
  });
};

/** Reads one record of the state table strongly; absent also where there is a tombstone. */
export const readRecord = async (tables: Tables, action: string, key: Key) => {
  const item = await getItem(tables, action, key);
  return item && isTombstone(item) ? undefined : item;
};

/**
 * A new record under this key must have a higher count of edits than this: the count of the
 * tombstone, or 0.
 */
export const lastCount = async (
  tables: Tables,
  action: string,
  key: Key,
  counter: Expected["counter"],
): Promise<number> => {
  const item = await getItem(tables, action, key);
  return item && isTombstone(item) ? Number(item[counter]?.N ?? 0) : 0;
};

/**
 * How long a tombstone stays before DynamoDB deletes it. A late request must be refused as long as
 * it can still arrive. Functions live 60 s at most and a command some minutes, so that a day is
 * ample.
 */
const TOMBSTONE_LIFE_S = 86_400;

/**
 * The item that replaces a deleted record. It continues the count of the record, so that no
 * generation or version occurs twice under one name.
 */
const tombstoneOf = (
  { counter, value, uid }: Expected & Required<Pick<Expected, "value">>,
  nowMs: number,
): object => ({
  [counter]: value + 1,
  [DELETED]: nowMs,
  ...(uid !== undefined && { deletedUid: uid }),
  [TTL_ATTRIBUTE]: Math.ceil(nowMs / SECOND_MS) + TOMBSTONE_LIFE_S,
});

export const isTombstone = (item: Readonly<Record<string, AttributeValue>>): boolean =>
  item[DELETED] !== undefined;
