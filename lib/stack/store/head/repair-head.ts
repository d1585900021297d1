import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import {
  type Head,
  HOLDER_CONDITION,
  holderValues,
  type Lease,
  mustHold,
  writeHead,
} from "./head.ts";

/** The times of a head that a sync never goes below. */
export type HeadTimes = Pick<Head, "nowMs" | "evaluatedMs" | "dueDoneMs">;

/*
 *  nowMs        ─────○ 12:00 ───────────────────────────────○ 13:00
 *         written by a clock that was an hour ahead: windows stand still until 13:00
 *  lower times       ○ 12:01
 *         the only write that lets times of a head fall
 */
export const lowerTimesParams = (
  stateTable: string,
  lease: Lease,
  times: HeadTimes,
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression:
    "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, evaluatedMs = :evaluated, dueDoneMs = :due",
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
export const lowerTimes = async (
  tables: Tables,
  lease: Lease,
  times: HeadTimes,
): Promise<Lease> => {
  const token = tables.token();
  const params = lowerTimesParams(tables.stateTable, lease, times, token);
  mustHold(
    lease,
    "reset the time of",
    await writeHead(tables, lease.partition, { action: "reset the time of", token, params }),
  );
  return { ...lease, writeNumber: lease.writeNumber + 1 };
};

/**
 * By how much numbers are raised in restored tables. The syncs and edits that the restore took back
 * have used some numbers above those that are stored, as ids of events and changes and as versions
 * in the memory of warm functions. A claim every five seconds takes a year and a half for so many.
 */
export const LOST_NUMBERS = 10_000_000;

/*
 *  before the restore   epoch 100 ─ ─ ─ ─ 4,100
 *         event "<uid>:4100" is in the history
 *  restored             epoch 100 ── adopt: epoch 10,000,101
 *         no sync may come to 4100 again: its event would be taken for written
 */
export const raiseEpochParams = (
  stateTable: string,
  lease: Lease,
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression:
    "SET epoch = epoch + :lost, specVersion = if_not_exists(specVersion, :zero) + :lost, writeNumber = writeNumber + :one, #token = :token, leaseUntilMs = :zero",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ...holderValues(lease, token),
    ":zero": { N: "0" },
    ":lost": { N: String(LOST_NUMBERS) },
  },
});

/**
 * Raises the epoch and the spec version above all that were lost, and gives the lease back, not as
 * released: the next sync uses no memory and writes every page. Throws `store.lease-lost`.
 */
export const raiseEpoch = async (tables: Tables, lease: Lease): Promise<Lease> => {
  const token = tables.token();
  const params = raiseEpochParams(tables.stateTable, lease, token);
  mustHold(
    lease,
    "raise the epoch of",
    await writeHead(tables, lease.partition, { action: "raise the epoch of", token, params }),
  );
  return { ...lease, epoch: lease.epoch + LOST_NUMBERS, writeNumber: lease.writeNumber + 1 };
};
