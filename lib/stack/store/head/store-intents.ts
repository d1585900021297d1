import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import { mustHaveRightClock } from "../table/server-clock.ts";
import type { Tables } from "../table/tables.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head.ts";
import { type IntentBodies, intentsAttribute } from "./intent-codec.ts";

/*
 *  A  claim(5) ── decide ──────────────── (stalled) ──────────── intend ✗
 *         the epoch is 6: no intent is stored, so no PUT is sent
 *  B                            claim(6) ── reads all intents of A ── …
 *
 * The update stores the whole map in one request. Under the condition, the holder has seen every
 * write, so that it removes no entry that it does not know.
 */
export const intendParams = (
  stateTable: string,
  lease: Lease,
  write: { readonly intents: IntentBodies; readonly nowMs: number; readonly token: string },
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression:
    "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, intents = :intents",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: {
    ...holderValues(lease, write.token),
    ":now": { N: String(write.nowMs) },
    ":intents": intentsAttribute(write.intents),
  },
});

/**
 * Stores the intents of the next scales beside the entries that stay, and returns the lease after
 * the write. After `store.lease-lost` or `store.clock-wrong` nothing may be written to the cluster.
 */
export const storeIntents = async (
  tables: Tables,
  lease: Lease,
  intents: IntentBodies,
  nowMs: number,
): Promise<Lease> => {
  mustHaveRightClock(
    tables,
    `store intents of "${lease.partition.cluster}/${lease.partition.partition}"`,
  );
  const token = tables.token();
  const params = intendParams(tables.stateTable, lease, { intents, nowMs, token });
  mustHold(
    lease,
    "store intents of",
    await writeHead(tables, lease.partition, { action: "store intents of", token, params }),
  );
  // Compares the own clock with this answer, the newest from the service before the PUTs: their
  // deadline depends on the own clock.
  mustHaveRightClock(
    tables,
    `write to the cluster for "${lease.partition.cluster}/${lease.partition.partition}"`,
  );
  return { ...lease, writeNumber: lease.writeNumber + 1 };
};

/** Most intents that one update removes: its expression stays under 4 KB and 300 operators. */
const INTENTS_PER_UPDATE_MAX = 100;

/*
 *  claim(5) ── intend ── (process and cluster died together) ── withdraw
 *         the epoch is still 5: no other sync has read the intent
 */
export const withdrawParams = (
  stateTable: string,
  lease: Lease,
  ids: readonly string[],
  token: string,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression: `SET writeNumber = writeNumber + :one, #token = :token REMOVE ${ids.map((_, at) => `intents.#i${at}`).join(", ")}`,
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: {
    "#token": "token",
    ...Object.fromEntries(ids.map((id, at) => [`#i${at}`, id])),
  },
  ExpressionAttributeValues: holderValues(lease, token),
});

/**
 * Removes intents with a known outcome from the head: their event is in the history, or their PUT
 * was proven never to take effect (only the embedded run can prove that). Returns the lease after
 * the last write. Throws `store.lease-lost`.
 */
export const withdrawIntents = async (
  tables: Tables,
  lease: Lease,
  ids: readonly string[],
): Promise<Lease> => {
  let latest = lease;
  for (let from = 0; from < ids.length; from += INTENTS_PER_UPDATE_MAX) {
    const token = tables.token();
    const params = withdrawParams(
      tables.stateTable,
      latest,
      ids.slice(from, from + INTENTS_PER_UPDATE_MAX),
      token,
    );
    mustHold(
      latest,
      "withdraw intents of",
      await writeHead(tables, lease.partition, { action: "withdraw intents of", token, params }),
    );
    latest = { ...latest, writeNumber: latest.writeNumber + 1 };
  }
  return latest;
};
