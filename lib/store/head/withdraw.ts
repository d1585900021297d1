import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { itemKey } from "../table/item-key.ts";
import { headKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head-write.ts";

/** Removed by one update of the head: keeps the expression under 4 KB and 300 operators. */
const INTENTS_PER_UPDATE_MAX = 100;

/*
 *  claim(5) ── intend ── (process and cluster died together) ── withdraw     epoch 5 still holds: nobody has counted on the intent
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
 * Takes intents out of the head whose outcome is known: their event is in the history, or the platform proved that their PUT was never executed and never will be (the embedded run alone
 * can prove that). Returns the holder's last write. Throws `store.lease-lost`.
 */
export const withdrawIntents = async (tables: Tables, lease: Lease, ids: readonly string[]): Promise<Lease> => {
  let now = lease;
  for (let from = 0; from < ids.length; from += INTENTS_PER_UPDATE_MAX) {
    const token = tables.token();
    const params = withdrawParams(tables.stateTable, now, ids.slice(from, from + INTENTS_PER_UPDATE_MAX), token);
    mustHold(now, "withdraw intents of", await writeHead(tables, lease.partition, { action: "withdraw intents of", token, params }));
    now = { ...now, writeNumber: now.writeNumber + 1 };
  }
  return now;
};
