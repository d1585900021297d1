import type { Key } from "../table/keys.ts";

/** One item of history, as it is inserted: never changed, deleted by its time to live alone. */
export interface HistoryItem extends Key {
  /** JSON text for events and changes, which people read in the table; compressed for the journal. */
  readonly body: string | Uint8Array;
  /** Seconds since 1970 after which the item no longer counts. */
  readonly ttlSeconds: number;
}

export type Inserted =
  | { readonly kind: "inserted" }
  /** An item of this key was there before, which is the one that counts. */
  | { readonly kind: "duplicate"; readonly stored: HistoryItem };

/**
 * Appending to history: the one port of this room with two implementations (docs/storage.md, "history"). An answer per item, in order; an item that was inserted by
 * an earlier attempt of the same call is a duplicate of itself, which callers treat alike.
 */
export type InsertHistory = (items: readonly HistoryItem[]) => Promise<readonly Inserted[]>;
