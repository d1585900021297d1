import type { PartitionRef } from "../../model/ids.ts";
import { type Key, timeText } from "../table/keys.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import type { InsertHistory } from "./port.ts";

/** Bytes that a person took out of the state because nobody could read them: whoever can one day finds them here. */
export interface KeptBytes {
  readonly partition: PartitionRef;
  /** What they were, `page#0#3` or `intent#<id>`. */
  readonly what: string;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** Item collection of its own: no cluster, day or autoscaler has a key that begins like this. */
const keptKey = ({ partition: { cluster, partition }, what, atMs }: KeptBytes): Key => ({
  pk: `kept#${cluster}#${partition}`,
  sk: `${timeText(atMs)}#${what}`,
});

/** Keeps bytes in the history as long as events are kept, and gives the key they lie under. They fit: they came out of an item of the same size. */
export const insertKeptBytes = async (insert: InsertHistory, kept: KeptBytes): Promise<Key> => {
  const key = keptKey(kept);
  await insert([{ ...key, body: kept.bytes, ttlSeconds: ttlOf(kept.atMs, EVENT_DAYS_KEPT) }]);
  return key;
};
