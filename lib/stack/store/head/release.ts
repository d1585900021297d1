import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import { mustHaveRightClock } from "../table/server-clock.ts";
import type { Tables } from "../table/tables.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head.ts";
import { type IntentBodies, intentsAttribute } from "./intent-codec.ts";
import { type Troubles, troublesText } from "./troubles.ts";

export interface Release {
  readonly dueMs: number;
  readonly nowMs: number;
  /** Time of the evaluation. Open recommendation runs reach to here. */
  readonly evaluatedMs: number;
  readonly pageGeneration: number;
  readonly pages: readonly number[];
  /**
   * The entries that stay. The holder has seen every entry (write number), so that this removes
   * exactly those that are settled and counted.
   */
  readonly intents: IntentBodies;
  /**
   * For readers (lib/stack/store/summary/summary-items.ts). Absent: the one before stays, and says
   * by its time that it is old.
   */
  readonly summary?: Uint8Array;
  readonly troubles: Troubles;
}

/*
 *  insert events ── write pages ── release
 *         one update: intents cleared, pages named, due time done, lease given back
 *                        └─ died ✗ ─ ─ ─ ─ claim
 *         the intents are still in the head: they are settled again, and each event is stored once
 */
export const releaseParams = (
  stateTable: string,
  lease: Lease,
  release: Release,
  token: string,
): UpdateItemCommandInput => {
  const troubles = troublesText(release.troubles);
  return {
    TableName: stateTable,
    Key: itemKey(headKey(lease.partition)),
    UpdateExpression: `${[
      "SET writeNumber = writeNumber + :one",
      "#token = :token",
      "releasedEpoch = :epoch",
      "leaseUntilMs = :zero",
      "dueDoneMs = :due",
      "nowMs = :now",
      "evaluatedMs = :evaluated",
      "pageGeneration = :generation",
      "pages = :pages",
      "intents = :open",
      ...(release.summary ? ["summary = :summary"] : []),
      ...(troubles === undefined ? [] : ["troubles = :troubles"]),
    ].join(", ")}${troubles === undefined ? " REMOVE troubles" : ""}`,
    ConditionExpression: HOLDER_CONDITION,
    ExpressionAttributeNames: { "#token": "token" },
    ExpressionAttributeValues: {
      ...holderValues(lease, token),
      ":zero": { N: "0" },
      ":due": { N: String(release.dueMs) },
      ":now": { N: String(release.nowMs) },
      ":evaluated": { N: String(release.evaluatedMs) },
      ":generation": { N: String(release.pageGeneration) },
      ":pages": { L: release.pages.map((epoch) => ({ N: String(epoch) })) },
      ":open": intentsAttribute(release.intents),
      ...(release.summary && { ":summary": { B: release.summary } }),
      ...(troubles !== undefined && { ":troubles": { S: troubles } }),
    },
  };
};

/**
 * Closes the sync. Throws `store.lease-lost` when another sync holds the partition; that sync
 * settles what is open.
 */
export const release = async (tables: Tables, lease: Lease, closing: Release): Promise<void> => {
  mustHaveRightClock(tables, `release "${lease.partition.cluster}/${lease.partition.partition}"`);
  const token = tables.token();
  const params = releaseParams(tables.stateTable, lease, closing, token);
  mustHold(
    lease,
    "release",
    await writeHead(tables, lease.partition, { action: "release", token, params }),
  );
};

/*
 *  claim(5) ── failed ── give back
 *         releasedEpoch stays 4: the next holder uses no memory and writes every page
 */
export const giveBackParams = (
  stateTable: string,
  lease: Lease,
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression: "SET writeNumber = writeNumber + :one, #token = :token, leaseUntilMs = :zero",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: { ...holderValues(lease, token), ":zero": { N: "0" } },
});

/**
 * Ends the lease of a failed sync, so that the next due time need not wait until it ends by time. A
 * lease that was lost meanwhile is not an error.
 */
export const giveBack = async (tables: Tables, lease: Lease): Promise<void> => {
  const token = tables.token();
  await writeHead(tables, lease.partition, {
    action: "give back",
    token,
    timeless: true,
    params: giveBackParams(tables.stateTable, lease, token),
  });
};
