import type { Head } from "../store/head/head.ts";
import type { Lease } from "../store/head/head-write.ts";
import type { SyncMessage } from "./message.ts";

/** Holds the lease of a running sync. Each write of the head replaces the lease, because a write raises the write number. */
export interface LeaseHolder {
  lease: Lease;
}

export const leaseHolder = ({ cluster, partition }: SyncMessage, { epoch, writeNumber }: Head): LeaseHolder => ({
  lease: { partition: { cluster, partition }, epoch, writeNumber },
});
