import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { TTL_ATTRIBUTE } from "../table/tables.ts";

/** The attribute that marks an item as a tombstone. It holds the time of the deletion in milliseconds since 1970. */
export const DELETED = "deletedMs";

/**
 * How long a tombstone stays before DynamoDB deletes it. A late request must be refused as long as it can still arrive. Functions live 60 s at most and a command some minutes, so
 * that a day is ample.
 */
const TOMBSTONE_LIFE_S = 86_400;
const SECOND_MS = 1_000;

interface Deleted {
  readonly counter: "generation" | "version";
  readonly value: number;
  readonly uid?: string;
}

/** The item that replaces a deleted record. It continues the count of the record, so that no generation or version occurs twice under one name. */
export const tombstoneOf = ({ counter, value, uid }: Deleted, nowMs: number): object => ({
  [counter]: value + 1,
  [DELETED]: nowMs,
  ...(uid !== undefined && { deletedUid: uid }),
  [TTL_ATTRIBUTE]: Math.ceil(nowMs / SECOND_MS) + TOMBSTONE_LIFE_S,
});

export const isTombstone = (item: Readonly<Record<string, AttributeValue>>): boolean => item[DELETED] !== undefined;
