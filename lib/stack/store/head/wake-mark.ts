import { UpdateItemCommand, type UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { itemKey, wakeKey } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";

/** The mark of a partition: the due time of the last sync that a wake has sent. */
export interface WakeMark {
  readonly dueMs: number;
  /** The due time that this mark replaces, as it was read; absent where none was known. */
  readonly beforeMs?: number;
}

export type MarkOutcome =
  | { readonly kind: "marked" }
  /** Another wake has marked the partition since; without a due time the mark is gone. */
  | { readonly kind: "other"; readonly dueMs?: number };

/*
 *  wake A   knows no mark ──── marks 12:00:03
 *  wake B   knows no mark ───────── marks 12:00:03.2 ✗ (UNMARKED): B reads 12:00:03, and plans anew
 *  wake C   knows 12:00:03 ── marks 12:00:08
 *  wake D   knows 12:00:03 ─────── marks 12:00:08 ✗ (UNCHANGED): D reads 12:00:08, and joins
 */
const UNMARKED = "attribute_not_exists(dueMs)";
const UNCHANGED = "dueMs = :before";

export const wakeMarkParams = (
  stateTable: string,
  partition: PartitionRef,
  { dueMs, beforeMs, token }: WakeMark & { readonly token: string },
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(wakeKey(partition)),
  UpdateExpression: "SET dueMs = :due, #token = :token",
  ConditionExpression: beforeMs === undefined ? UNMARKED : UNCHANGED,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ":due": { N: String(dueMs) },
    ":token": { S: token },
    ...(beforeMs !== undefined && { ":before": { N: String(beforeMs) } }),
  },
});

/**
 * Marks the partition, if no other wake has since the mark was read. Where the answer of the first
 * attempt was lost, the token shows that the mark is the own one.
 */
export const markWoken = async (
  tables: Tables,
  partition: PartitionRef,
  mark: WakeMark,
): Promise<MarkOutcome> => {
  const action = `mark the wake of "${partition.cluster}/${partition.partition}"`;
  const token = tables.token();
  const params = wakeMarkParams(tables.stateTable, partition, { ...mark, token });
  if (await wasExecuted(tables, action, () => tables.client.send(new UpdateItemCommand(params))))
    return { kind: "marked" };
  const stored = await getItem(tables, action, wakeKey(partition));
  if (stored?.["token"]?.S === token) return { kind: "marked" };
  const dueMs = stored?.["dueMs"]?.N;
  return { kind: "other", ...(dueMs !== undefined && { dueMs: Number(dueMs) }) };
};
