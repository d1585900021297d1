import type { ScaleWrite } from "../../../lib/stack/cluster/cluster-client.ts";
import type { Invocation } from "../invocation.ts";
import type { KnownIntent, Ledger } from "./ledger.ts";

/**
 * The intent that this invocation stored before it sent a PUT, found through what the table and the
 * cluster saw.
 */
export const sentIntent = (
  ledger: Ledger,
  by: Invocation,
  { targetUid, replicas }: Pick<ScaleWrite, "targetUid" | "replicas">,
): KnownIntent | undefined => {
  for (const uid of by.decided.keys()) {
    const known = ledger.intents.get(`${uid}:${by.epoch}`);
    if (known && known.intent.targetUid === targetUid && known.intent.to === replicas) return known;
  }
  return undefined;
};
