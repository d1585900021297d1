import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { itemKey } from "../table/item-key.ts";
import { headKey } from "../table/keys.ts";
import { mustTellTime } from "../table/server-clock.ts";
import type { Tables } from "../table/tables.ts";
import { HOLDER_CONDITION, holderValues, type Lease, mustHold, writeHead } from "./head-write.ts";
import { type IntentBodies, intentsAttribute } from "./intents.ts";

/*
 *  A  claim(5) ── decide ──────────────── (stalled) ──────────── intend ✗   epoch is 6: no intent, so no PUT
 *  B                            claim(6) ── sees all of A's intents ── …
 *
 * The update stores the whole map, in one request whatever its length: under the condition, the holder has seen every write that was made, and so every entry that there is.
 */
export const intendParams = (
  stateTable: string,
  lease: Lease,
  write: { readonly intents: IntentBodies; readonly nowMs: number; readonly token: string },
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(lease.partition)),
  UpdateExpression: "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, intents = :intents",
  ConditionExpression: HOLDER_CONDITION,
  ExpressionAttributeNames: { "#token": "token" },
  ExpressionAttributeValues: { ...holderValues(lease, write.token), ":now": { N: String(write.nowMs) }, ":intents": intentsAttribute(write.intents) },
});

/**
 * Stores the intents of the scales about to be made beside everything that the head must keep, and returns the write number after it. Throws `store.lease-lost`, `store.clock-wrong`: then
 * nothing may be written to the cluster.
 */
export const storeIntents = async (tables: Tables, lease: Lease, intents: IntentBodies, nowMs: number): Promise<Lease> => {
  mustTellTime(tables, `store intents of "${lease.partition.cluster}/${lease.partition.partition}"`);
  const token = tables.token();
  const params = intendParams(tables.stateTable, lease, { intents, nowMs, token });
  mustHold(lease, "store intents of", await writeHead(tables, lease.partition, { action: "store intents of", token, params }));
  // The answer is the newest reading of the service's clock before any PUT, whose deadline rests on the own one.
  mustTellTime(tables, `write to the cluster for "${lease.partition.cluster}/${lease.partition.partition}"`);
  return { ...lease, writeNumber: lease.writeNumber + 1 };
};
