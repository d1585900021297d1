import { type ClaimOutcome, claim } from "../store/head/claim.ts";
import type { SyncMessage } from "./message.ts";
import type { SyncPorts } from "./ports.ts";

/** Claims the message's partition for its due time: raises the epoch, takes the lease, and returns the head with every open intent. */
export const claimPartition = ({ tables, timing }: SyncPorts, message: SyncMessage): Promise<ClaimOutcome> => {
  const clockMs = tables.clock();
  const partition = { cluster: message.cluster, partition: message.partition };
  return claim(tables, { partition, dueMs: message.dueMs, clockMs, leaseUntilMs: clockMs + timing.leaseMs });
};
