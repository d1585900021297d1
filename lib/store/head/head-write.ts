import { type AttributeValue, UpdateItemCommand, type UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import type { PartitionRef } from "../../model/ids.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { type Head, headOf, readHead } from "./head.ts";

/**
 * The condition under which the holder of a lease writes the head: no other sync claimed since, and the holder has seen every write.
 *
 *     epoch        5 ──────────────────────────────┐ 6 claimed: writes under epoch 5 are refused
 *     writeNumber  12 claim → 13 intend → 14 release     a write that is sent twice takes effect once
 */
export const HOLDER_CONDITION = "epoch = :epoch AND writeNumber = :seen";

/** The lease of a partition: the epoch of its claim, and the number of the last write under it. */
export interface Lease {
  readonly partition: PartitionRef;
  readonly epoch: number;
  readonly writeNumber: number;
}

export const holderValues = (lease: Lease, token: string): Record<string, AttributeValue> => ({
  ":epoch": { N: String(lease.epoch) },
  ":seen": { N: String(lease.writeNumber) },
  ":one": { N: "1" },
  ":token": { S: token },
});

export type HeadWrite =
  /** With the head, where the request returns it or it had to be read. */
  { readonly kind: "written"; readonly head?: Head } | { readonly kind: "refused"; readonly head: Head | undefined };

/**
 * Sends one write of the head until its answer is clear. A refusal may be the answer to a repeat (ours or the SDK's) of a request that was executed. The token of
 * the head, read strongly, decides.
 */
export const writeHead = async (
  tables: Tables,
  partition: PartitionRef,
  write: { readonly action: string; readonly token: string; readonly params: UpdateItemCommandInput },
): Promise<HeadWrite> => {
  try {
    const { Attributes } = await repeat(tables, `${write.action} "${partition.cluster}/${partition.partition}"`, () =>
      tables.client.send(new UpdateItemCommand(write.params)),
    );
    return { kind: "written", ...(Attributes && { head: headOf(Attributes) }) };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const head = await readHead(tables, partition);
    return head?.token === write.token ? { kind: "written", head } : { kind: "refused", head };
  }
};

/** Throws `store.lease-lost` when the write was refused. A sync that lost its lease writes nothing more. */
export const mustHold = (lease: Lease, action: string, outcome: HeadWrite): void => {
  if (outcome.kind === "written") return;
  const { cluster, partition } = lease.partition;
  const current = outcome.head?.epoch ?? 0;
  throw new TidemarkError("store.lease-lost", `Cannot ${action} "${cluster}/${partition}": epoch is ${current}, not ${lease.epoch}`, {
    cluster,
    partition,
    mine: lease.epoch,
    found: current,
  });
};
