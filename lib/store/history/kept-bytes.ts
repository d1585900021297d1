import type { PartitionRef } from "../../model/ids.ts";
import { type Key, sortableMs } from "../table/keys.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import type { InsertHistory } from "./item.ts";

/** Unreadable bytes that a person removed from the state. They stay in the history for a later analysis. */
export interface KeptBytes {
  readonly partition: PartitionRef;
  /** Their origin, `page#0#3` or `intent#<id>`. */
  readonly what: string;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** These items have their own partition key. No cluster, day or autoscaler has a key that begins like this. */
const keptKey = ({ partition: { cluster, partition }, what, atMs }: KeptBytes): Key => ({
  pk: `kept#${cluster}#${partition}`,
  sk: `${sortableMs(atMs)}#${what}`,
});

/** Inserts the bytes for as long as events are kept, and returns their key. They fit an item, because they came from an item. */
export const insertKeptBytes = async (insert: InsertHistory, kept: KeptBytes): Promise<Key> => {
  const key = keptKey(kept);
  await insert([{ ...key, body: kept.bytes, ttlSeconds: ttlOf(kept.atMs, EVENT_DAYS_KEPT) }]);
  return key;
};
