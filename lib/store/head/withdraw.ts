import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { headKey, itemKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head-write.ts";

/** Most intents that one update removes: its expression stays under 4 KB and 300 operators. */
const INTENTS_PER_UPDATE_MAX = 100;

/*
 *  claim(5) ── intend ── (process and cluster died together) ── withdraw     the epoch is still 5: no other sync has read the intent
 */
export const withdrawParams = (stateTable: string, lease: Lease, ids: readonly string[], token: string): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression: `SET writeNumber = writeNumber + :one, #token = :token REMOVE ${ids.map((_, at) => `intents.#i${at}`).join(", ")}`,
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token", ...Object.fromEntries(ids.map((id, at) => [`#i${at}`, id])) },
  ExpressionAttributeValues: holderValues(lease, token),
});

/**
 * Removes intents with a known outcome from the head: their event is in the history, or their PUT was proven never to take effect (only the embedded run can prove that). Returns the
 * lease after the last write. Throws `store.lease-lost`.
 */
export const withdrawIntents = async (tables: Tables, lease: Lease, ids: readonly string[]): Promise<Lease> => {
  let latest = lease;
  for (let from = 0; from < ids.length; from += INTENTS_PER_UPDATE_MAX) {
    const token = tables.token();
    const params = withdrawParams(tables.stateTable, latest, ids.slice(from, from + INTENTS_PER_UPDATE_MAX), token);
    mustHold(latest, "withdraw intents of", await writeHead(tables, lease.partition, { action: "withdraw intents of", token, params }));
    latest = { ...latest, writeNumber: latest.writeNumber + 1 };
  }
  return latest;
};
