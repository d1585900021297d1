import type { Key } from "../table/keys.ts";

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
