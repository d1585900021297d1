import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import type { Head } from "./head.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head-write.ts";

/** The times of a head that a sync never goes below. */
export type HeadTimes = Pick<Head, "nowMs" | "evaluatedMs" | "dueDoneMs">;

/*
 *  nowMs        ─────○ 12:00 ───────────────────────────────○ 13:00      written by a clock that was an hour ahead: windows stand still until 13:00
 *  lower times       ○ 12:01                                             the only write that lets times of a head fall
 */
export const lowerTimesParams = (stateTable: string, lease: Lease, times: HeadTimes, token: string): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression: "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, evaluatedMs = :evaluated, dueDoneMs = :due",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ...holderValues(lease, token),
    ":now": { N: String(times.nowMs) },
    ":evaluated": { N: String(times.evaluatedMs) },
    ":due": { N: String(times.dueDoneMs) },
  },
});

/** Sets the times of a head that are ahead of the clock. Throws `store.lease-lost`. */
export const lowerTimes = async (tables: Tables, lease: Lease, times: HeadTimes): Promise<Lease> => {
  const token = tables.token();
  const params = lowerTimesParams(tables.stateTable, lease, times, token);
  mustHold(lease, "reset the time of", await writeHead(tables, lease.partition, { action: "reset the time of", token, params }));
  return { ...lease, writeNumber: lease.writeNumber + 1 };
};
