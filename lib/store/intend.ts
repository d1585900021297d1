import type { AttributeValue, UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { Intent } from "../model/records.ts";
import { type Held, HOLDER_CONDITION, holderValues, mustHold, writeHead } from "./head-write.ts";
import { encodeIntent, INTENTS_PER_UPDATE_MAX } from "./intent-codec.ts";
import { itemKey } from "./item-key.ts";
import { headKey } from "./keys.ts";
import type { Tables } from "./tables.ts";

/*
 *  A  claim(5) ── decide ──────────────── (stalled) ──────────── intend ✗   epoch is 6: no intent, so no PUT
 *  B                            claim(6) ── sees all of A's intents ── …
 *
 * The update names the intents that it adds and no other, so that it can never take one away.
 */
export const intendParams = (
  stateTable: string,
  held: Held,
  write: { readonly intents: readonly Intent[]; readonly nowMs: number; readonly token: string },
): UpdateItemCommandInput => {
  const names: Record<string, string> = { "#token": "token" };
  const values: Record<string, AttributeValue> = { ...holderValues(held, write.token), ":now": { N: String(write.nowMs) } };
  const added = write.intents.map((intent, at) => {
    names[`#i${at}`] = intent.id;
    values[`:i${at}`] = { B: encodeIntent(intent) };
    return `intents.#i${at} = :i${at}`;
  });
  return {
    TableName: stateTable,
    Key: itemKey(headKey(held.partition)),
    UpdateExpression: `SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, ${added.join(", ")}`,
    ConditionExpression: HOLDER_CONDITION,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};

/** Stores the intents of the scales about to be made, and returns the write number after it. Throws `store.lease-lost`: then nothing may be written to the cluster. */
export const storeIntents = async (tables: Tables, held: Held, intents: readonly Intent[], nowMs: number): Promise<Held> => {
  let now = held;
  for (let from = 0; from < intents.length; from += INTENTS_PER_UPDATE_MAX) {
    const token = tables.token();
    const params = intendParams(tables.stateTable, now, { intents: intents.slice(from, from + INTENTS_PER_UPDATE_MAX), nowMs, token });
    mustHold(now, "store intents of", await writeHead(tables, held.partition, { action: "store intents of", token, params }));
    now = { ...now, writeNumber: now.writeNumber + 1 };
  }
  return now;
};
