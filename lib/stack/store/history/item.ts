import { type Key, itemKey } from "../table/keys.ts";
import {
  type AttributeValue,
  GetItemCommand,
  type QueryCommandInput,
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandInput,
  type BatchStatementError,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { repeat, repeatWrite, backOff, isTransientCode } from "../table/repeat.ts";
import { batchGet } from "../table/read-many.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

/** One item of history. It is never changed, and only its time to live deletes it. */
export interface HistoryItem extends Key {
  /**
   * JSON text for changes of clusters, partitions and the fleet, which are few and which people
   * read in the table; compressed bytes for all else.
   */
  readonly body: string | Uint8Array;
  /** Seconds since 1970 after which the item no longer counts. */
  readonly ttlSeconds: number;
}

export type Inserted =
  | { readonly kind: "inserted" }
  /** An item of this key was stored before. The stored item counts. */
  | { readonly kind: "duplicate"; readonly stored: HistoryItem };

/**
 * Appends to history. It is the one port of this room, with two implementations (docs/storage.md,
 * "history"). It returns an answer for each item, in order. An item that an earlier attempt of the
 * same call inserted is a duplicate of itself; callers treat both answers alike.
 */
export type InsertHistory = (items: readonly HistoryItem[]) => Promise<readonly Inserted[]>;

const bodyAttribute = (body: HistoryItem["body"]): AttributeValue =>
  typeof body === "string" ? { S: body } : { B: body };

/** The history item in an answer. Throws `store.unreadable` when attributes are missing. */
export const historyItemOf = (item: Readonly<Record<string, AttributeValue>>): HistoryItem => {
  const { pk, sk, ttl, body } = item;
  const content = body?.S ?? body?.B;
  if (pk?.S === undefined || sk?.S === undefined || content === undefined) {
    throw new TidemarkError(
      "store.unreadable",
      `Cannot read the history item "${pk?.S} ${sk?.S}": it has no body`,
      { pk: pk?.S, sk: sk?.S },
    );
  }
  return { pk: pk.S, sk: sk.S, body: content, ttlSeconds: Number(ttl?.N) };
};

/** Reads one item strongly; absent when there is none of this key. */
export const readHistory = async (
  tables: Tables,
  key: Key,
  action = `read the history item "${key.sk}"`,
  isStrong = true,
): Promise<HistoryItem | undefined> => {
  const params = { TableName: tables.historyTable, Key: itemKey(key), ConsistentRead: isStrong };
  const { Item } = await repeat(tables, action, () =>
    tables.client.send(new GetItemCommand(params)),
  );
  return Item && historyItemOf(Item);
};

/**
 * Reads an item that another one names. It never changes, so that it is read for half of the units
 * first, and strongly only where it is too new for that.
 */
export const readWritten = async (tables: Tables, key: Key): Promise<HistoryItem | undefined> =>
  (await readHistory(tables, key, undefined, false)) ?? (await readHistory(tables, key));

/** Many of them, in the order of their keys, of which no two are equal. */
export const readAllWritten = async (
  tables: Tables,
  keys: readonly Key[],
): Promise<readonly (HistoryItem | undefined)[]> => {
  const [only, ...more] = keys;
  if (!only) return [];
  if (more.length === 0) return [await readWritten(tables, only)];
  const read = (wanted: readonly Key[], consistent: boolean) =>
    batchGet(tables, "read items of the history", wanted, {
      consistent,
      table: tables.historyTable,
    });
  const found = await read(keys, false);
  const late = keys.filter((_, at) => !found[at]);
  const strong = new Map((await read(late, true)).map((item, at) => [late[at], item]));
  return keys.map((key, at) => {
    const item = found[at] ?? strong.get(key);
    return item && historyItemOf(item);
  });
};

/** Sorts after every character of an id, and after every time. */
export const LAST = "~";

/** The items between two sort keys, both inclusive. */
export const itemsBetween = (
  historyTable: string,
  pk: string,
  [since, until]: readonly [string, string],
): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :until",
  ExpressionAttributeValues: { ":pk": { S: pk }, ":since": { S: since }, ":until": { S: until } },
});

/**
 * The same without the items that have expired at an instant, because their deletion may be days
 * late.
 */
export const unexpiredBetween = (
  historyTable: string,
  pk: string,
  range: readonly [string, string],
  nowMs: number,
): QueryCommandInput => {
  const { ExpressionAttributeValues: values, ...between } = itemsBetween(historyTable, pk, range);
  return {
    ...between,
    FilterExpression: "#ttl > :now",
    ExpressionAttributeNames: { "#ttl": TTL_ATTRIBUTE },
    ExpressionAttributeValues: { ...values, ":now": { N: String(Math.floor(nowMs / SECOND_MS)) } },
  };
};

/**
 * The stored item of a duplicate. Throws `store.unreadable` when it is missing; no right of the
 * functions can delete it.
 */
const readStored = async (tables: Tables, key: Key): Promise<HistoryItem> =>
  (await readHistory(tables, key)) ?? historyItemOf({});

/** Most statements of one BatchExecuteStatement (limit of DynamoDB). */
export const STATEMENTS_MAX = 25;
/** Batches of one call that are under way together. */
const PARALLEL = 4;

/** DynamoDB answers DuplicateItem in a batch, other engines DuplicateItemException. */
const DUPLICATES = new Set(["DuplicateItem", "DuplicateItemException"]);

/*
 *  A  INSERT event uid:5 "applied" ✓ ── (died)
 *  B
 *         INSERT event uid:5 "unknown" ✗     the statement itself refuses an existing key; its
 *         right allows no overwriting
 */
export const insertHistoryParams = (
  historyTable: string,
  items: readonly HistoryItem[],
): BatchExecuteStatementCommandInput => ({
  Statements: items.map((item) => ({
    Statement: `INSERT INTO "${historyTable}" VALUE {'pk': ?, 'sk': ?, 'ttl': ?, 'body': ?}`,
    Parameters: [
      { S: item.pk },
      { S: item.sk },
      { N: String(item.ttlSeconds) },
      bodyAttribute(item.body),
    ],
  })),
});

/**
 * Appends by PartiQL INSERT, whose right (`dynamodb:PartiQLInsert`) cannot overwrite. Only
 * throttled statements are sent again.
 */
export const insertByStatement = (tables: Tables): InsertHistory => {
  const insertSome = async (items: readonly HistoryItem[]): Promise<readonly Inserted[]> => {
    const outcomes = new Map<HistoryItem, Inserted>();
    for (let attempt = 1; outcomes.size < items.length; attempt++) {
      const left = items.filter((item) => !outcomes.has(item));
      const errors = await sendStatements(tables, left);
      for (const [at, item] of left.entries()) {
        const outcome = await outcomeOf(tables, item, errors[at]);
        if (outcome) outcomes.set(item, outcome);
      }
      if (outcomes.size < items.length)
        await backOff(tables, "insert into history", attempt, errors.find(Boolean));
    }
    return items.map((item) => outcomes.get(item) ?? { kind: "inserted" });
  };
  return async (items) => {
    const batches = Array.from({ length: Math.ceil(items.length / STATEMENTS_MAX) }, (_, at) =>
      items.slice(at * STATEMENTS_MAX, (at + 1) * STATEMENTS_MAX),
    );
    return (await mapWithLimit(batches, PARALLEL, insertSome)).flat();
  };
};

const sendStatements = async (
  tables: Tables,
  items: readonly HistoryItem[],
): Promise<readonly (BatchStatementError | undefined)[]> => {
  const { Responses } = await repeatWrite(tables, "insert into history", () =>
    tables.client.send(
      new BatchExecuteStatementCommand(insertHistoryParams(tables.historyTable, items)),
    ),
  );
  // An answer without an entry for each statement proves nothing about any of them, so that it is
  // an error and never "inserted".
  if (Responses?.length !== items.length)
    throw new TypeError(
      `${items.length} statements were answered by ${Responses?.length ?? 0} responses`,
    );
  return Responses.map((response) => response.Error);
};

/**
 * The outcome of one statement. `undefined` means that it was not executed and must be sent again.
 */
const outcomeOf = async (
  tables: Tables,
  item: HistoryItem,
  error: BatchStatementError | undefined,
): Promise<Inserted | undefined> => {
  if (!error) return { kind: "inserted" };
  if (DUPLICATES.has(error.Code ?? ""))
    return { kind: "duplicate", stored: await readStored(tables, item) };
  if (isTransientCode(error.Code)) return undefined;
  throw new TidemarkError(
    "store.insert-refused",
    `Cannot insert the history item "${item.sk}": ${error.Code}: ${error.Message}`,
    {
      key: item.sk,
      code: error.Code,
    },
  );
};
