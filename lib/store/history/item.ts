import { type Key, itemKey } from "../table/keys.ts";
import { type AttributeValue, GetItemCommand, type GetItemCommandInput } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";

/** One item of history. It is never changed, and only its time to live deletes it. */
export interface HistoryItem extends Key {
  /** JSON text for changes of clusters, partitions and the fleet, which are few and which people read in the table; compressed bytes for all else. */
  readonly body: string | Uint8Array;
  /** Seconds since 1970 after which the item no longer counts. */
  readonly ttlSeconds: number;
}

export type Inserted =
  | { readonly kind: "inserted" }
  /** An item of this key was stored before. The stored item counts. */
  | { readonly kind: "duplicate"; readonly stored: HistoryItem };

/**
 * Appends to history. It is the one port of this room, with two implementations (docs/storage.md, "history"). It returns an answer for each item, in order. An item that an
 * earlier attempt of the same call inserted is a duplicate of itself; callers treat both answers alike.
 */
export type InsertHistory = (items: readonly HistoryItem[]) => Promise<readonly Inserted[]>;

export const bodyAttribute = (body: HistoryItem["body"]): AttributeValue => (typeof body === "string" ? { S: body } : { B: body });

/** The history item in an answer. Throws `store.unreadable` when attributes are missing. */
export const historyItemOf = (item: Readonly<Record<string, AttributeValue>>): HistoryItem => {
  const { pk, sk, ttl, body } = item;
  const content = body?.S ?? body?.B;
  if (pk?.S === undefined || sk?.S === undefined || content === undefined) {
    throw new TidemarkError("store.unreadable", `Cannot read the history item "${pk?.S} ${sk?.S}": it has no body`, { pk: pk?.S, sk: sk?.S });
  }
  return { pk: pk.S, sk: sk.S, body: content, ttlSeconds: Number(ttl?.N) };
};

export const readHistoryParams = (historyTable: string, key: Key): GetItemCommandInput => ({
  TableName: historyTable,
  Key: itemKey(key),
  ConsistentRead: true,
});

/** Reads one item strongly; absent when there is none of this key. */
export const readHistory = async (tables: Tables, key: Key): Promise<HistoryItem | undefined> => {
  const { Item } = await repeat(tables, `read the history item "${key.sk}"`, () =>
    tables.client.send(new GetItemCommand(readHistoryParams(tables.historyTable, key))),
  );
  return Item && historyItemOf(Item);
};

/** The stored item of a duplicate. Throws `store.unreadable` when it is missing; no right of the functions can delete it. */
export const readStored = async (tables: Tables, key: Key): Promise<HistoryItem> => (await readHistory(tables, key)) ?? historyItemOf({});
