import { UpdateItemCommand, type UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { AutoscalerRecord } from "../../model/records.ts";
import { autoscalerKey, itemKey } from "../table/keys.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { DELETED } from "./tombstone.ts";

/*
 *  sync A  LIST without the object ── mark 12:00:00 ────────────────── LIST without it ── ends the autoscaler
 *  sync B                     LIST without the object ── mark ✗ (one is there)
 *  sync C                                    LIST with the object ── takes the mark off
 *
 * The mark is no edit: it leaves the generation as it is, so that it disturbs no editor. An edit that was on its way may bring an old mark back; the next LIST with the object takes it off.
 */
const SAME_OBJECT = "uid = :uid AND attribute_exists(#origin)";
const ALIVE = `attribute_not_exists(${DELETED})`;

export const goneMarkParams = (stateTable: string, record: AutoscalerRecord, goneMs: number | undefined): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(autoscalerKey(record)),
  UpdateExpression: goneMs === undefined ? "REMOVE #origin.goneMs" : "SET #origin.goneMs = if_not_exists(#origin.goneMs, :gone)",
  ConditionExpression: `${SAME_OBJECT} AND ${ALIVE}`,
  ExpressionAttributeNames: { "#origin": "origin" },
  ExpressionAttributeValues: { ":uid": { S: record.uid }, ...(goneMs !== undefined && { ":gone": { N: String(goneMs) } }) },
});

/** Notes on the record since when its object is gone; `undefined` takes the note off. Nothing happens where the record was replaced or deleted in the meantime: the next sync looks again. */
export const markGone = async (tables: Tables, record: AutoscalerRecord, goneMs: number | undefined): Promise<void> => {
  const params = goneMarkParams(tables.stateTable, record, goneMs);
  try {
    await repeat(tables, `mark "${record.namespace}/${record.name}" in cluster "${record.cluster}"`, () =>
      tables.client.send(new UpdateItemCommand(params)),
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
};
