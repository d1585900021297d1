import type { Head } from "../store/head/head.ts";
import type { Held } from "../store/head/head-write.ts";
import type { SyncMessage } from "./message.ts";

/** The holder's last write of the head, which moves on as it writes. */
export interface Holder {
  now: Held;
}

export const holder = ({ cluster, partition }: SyncMessage, { epoch, writeNumber }: Head): Holder => ({
  now: { partition: { cluster, partition }, epoch, writeNumber },
});
