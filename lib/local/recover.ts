import type { PartitionRef } from "../model/ids.ts";
import type { ClusterRecord } from "../model/records.ts";
import { readHead } from "../store/head.ts";
import { storeIntents } from "../store/intend.ts";
import { giveBack } from "../store/release.ts";
import type { Tables } from "../store/tables.ts";

/** What the last run left unfinished in a cluster's partitions. */
export interface Unfinished {
  readonly leases: number;
  /** Attempts to scale whose outcome the next sync finds out. */
  readonly intents: number;
}

/**
 * Ends the leases of syncs that died with the last run, so that their messages need not wait for them. On AWS a lease runs out, because nobody can know that a holder is
 * dead; here the folder's lock proves it. The simulated cluster died with it, so no PUT can still be on its way either: the deadlines of open intents are over, and the
 * sync that follows settles them as any later holder would. Nothing else is touched: what was stored stays, what was not is done again.
 */
export const endDeadLeases = async (tables: Tables, { name, partitions }: ClusterRecord, nowMs: number): Promise<Unfinished> => {
  let leases = 0;
  let intents = 0;
  for (const { name: partition } of partitions) {
    const open = await endDeadLease(tables, { cluster: name, partition }, nowMs);
    if (open === undefined) continue;
    leases++;
    intents += open;
  }
  return { leases, intents };
};

const endDeadLease = async (tables: Tables, partition: PartitionRef, nowMs: number): Promise<number | undefined> => {
  const head = await readHead(tables, partition);
  if (!head || head.leaseUntilMs === 0) return undefined;
  const { epoch, writeNumber, intents } = head;
  const over = intents.map((intent) => ({ ...intent, deadlineMs: Math.min(intent.deadlineMs, nowMs - 1) }));
  await giveBack(tables, await storeIntents(tables, { partition, epoch, writeNumber }, over, head.nowMs));
  return intents.length;
};
