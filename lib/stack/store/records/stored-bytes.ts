import { UpdateItemCommand, type UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { itemKey, storedBytesKey } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { SECOND_MS, HOUR_MS } from "../../../rules/model/time-text.ts";

/**
 * Bytes that are written to the tables for the objects of one namespace within an hour. 1,300 edits
 * of a usual object of 2 KB fit, and 100 of one of 80 KB. A namespace that uses all of it all the
 * time costs $4 a month of write units.
 */
export const NAMESPACE_BYTES_MAX = 8_000_000;
/** An item that says nothing any more is deleted a day later. */
const KEPT_MS = 24 * HOUR_MS;

/*
 *  used bytes     ▁▃▅▇█ full: over the limit ▇▅▃▁
 *         one number holds all: the time at which everything that was used is given back,
 *  repaidMs       ──────────────────────────┤
 *         at the even rate of the limit an hour. So the count survives every death of a sync, and
 *         no clock has to begin an hour.
 */

/** What a namespace has used of its bytes. 0: nothing, or nothing for an hour. */
export type RepaidMs = number;

export const usedBytes = (repaidMs: RepaidMs, nowMs: number): number =>
  Math.round((Math.min(HOUR_MS, Math.max(0, repaidMs - nowMs)) / HOUR_MS) * NAMESPACE_BYTES_MAX);

/** The same after more bytes; fewer than none gives bytes back that were not written. */
export const repaidAfter = (repaidMs: RepaidMs, bytes: number, nowMs: number): RepaidMs =>
  Math.max(nowMs, repaidMs) + Math.round((bytes / NAMESPACE_BYTES_MAX) * HOUR_MS);

/** From when on there is room for so many bytes. */
export const roomFromMs = (repaidMs: RepaidMs, bytes: number): number =>
  repaidMs - HOUR_MS + Math.ceil((bytes / NAMESPACE_BYTES_MAX) * HOUR_MS);

export const readStoredBytes = async (
  tables: Tables,
  partition: PartitionRef,
  namespace: string,
): Promise<RepaidMs> =>
  Number(
    (
      await getItem(
        tables,
        `read the bytes of namespace "${namespace}"`,
        storedBytesKey(partition, namespace),
      )
    )?.["repaidMs"]?.N ?? 0,
  );

interface BytesMove {
  readonly partition: PartitionRef;
  readonly namespace: string;
  readonly from: RepaidMs;
  readonly to: RepaidMs;
}

/*
 *  A  reads 12:10 ── 12:10 → 12:25 ✓ ── stores
 *  B  reads 12:10 ─────────── 12:10 → 12:18 ✗
 *         B was overtaken: it stores nothing in this sync
 */
export const storedBytesParams = (
  stateTable: string,
  { partition, namespace, from, to }: BytesMove,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(storedBytesKey(partition, namespace)),
  UpdateExpression: "SET repaidMs = :to, #ttl = :ttl",
  ConditionExpression: from === 0 ? "attribute_not_exists(repaidMs)" : "repaidMs = :from",
  ExpressionAttributeNames: { "#ttl": TTL_ATTRIBUTE },
  ExpressionAttributeValues: {
    ":to": { N: String(to) },
    ":ttl": { N: String(Math.ceil((to + KEPT_MS) / SECOND_MS)) },
    ...(from !== 0 && { ":from": { N: String(from) } }),
  },
});

/**
 * Moves the count of a namespace, before anything is stored for it. False where another sync has
 * moved it: on doubt, nothing is stored.
 */
export const moveStoredBytes = (tables: Tables, move: BytesMove): Promise<boolean> => {
  const params = storedBytesParams(tables.stateTable, move);
  return wasExecuted(tables, `count the bytes of namespace "${move.namespace}"`, () =>
    tables.client.send(new UpdateItemCommand(params)),
  );
};
