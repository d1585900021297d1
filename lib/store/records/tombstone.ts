import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { TTL_ATTRIBUTE } from "../table/tables.ts";

/** Attribute that marks an item as a tombstone: when the record was deleted, in milliseconds since 1970. */
export const DELETED = "deletedMs";

/**
 * How long a tombstone stays before DynamoDB deletes it. A late request must be refused as long as it can still arrive. Functions live 60 s at most and a person's command some
 * minutes, so a day is ample.
 */
const TOMBSTONE_LIFE_S = 86_400;
const SECOND_MS = 1_000;

interface Deleted {
  readonly counter: "generation" | "version";
  readonly value: number;
  readonly uid?: string;
}

/** The item that takes the place of a deleted record. It keeps counting where the record stopped, so that no generation or version ever comes twice under one name. */
export const tombstoneOf = ({ counter, value, uid }: Deleted, nowMs: number): object => ({
  [counter]: value + 1,
  [DELETED]: nowMs,
  ...(uid !== undefined && { deletedUid: uid }),
  [TTL_ATTRIBUTE]: Math.ceil(nowMs / SECOND_MS) + TOMBSTONE_LIFE_S,
});

export const isTombstone = (item: Readonly<Record<string, AttributeValue>>): boolean => item[DELETED] !== undefined;
