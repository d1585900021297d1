import { type AttributeValue, GetItemCommand, type GetItemCommandInput } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import type { PartitionRef } from "../../model/ids.ts";
import { itemKey } from "../table/item-key.ts";
import { headKey } from "../table/keys.ts";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { type HeadIntents, headIntentsOf } from "./intents.ts";

/** One per partition: the fence, and what changes in every sync. Under 1 KB while no intent is open. */
export interface Head extends HeadIntents {
  /** Raised by every claim. */
  readonly epoch: number;
  /** The epoch that released last (followsCleanRelease). */
  readonly releasedEpoch: number;
  /** Zero when given back. */
  readonly leaseUntilMs: number;
  readonly dueDoneMs: number;
  /** `nowMs` of the last completed sync that evaluated: open recommendation runs reach to here. */
  readonly evaluatedMs: number;
  readonly nowMs: number;
  /** Raised after every edit of an autoscaler of the partition. */
  readonly specVersion: number;
  /** Raised by every write of a holder. */
  readonly writeNumber: number;
  readonly token: string;
  readonly pageGeneration: number;
  /** By page index: the epoch that wrote the page, which is its version. */
  readonly pages: readonly number[];
  /** Version of the cluster under which namespaces were last moved to or from here: while the cluster still has it, nobody knows yet whether they were (moving.ts). */
  readonly movingVersion?: number;
  /** Of the code that claimed it last (protocol-version.ts). */
  readonly protocol: number;
}

const count = z.number().int().nonnegative().default(0);

const stored = z.object({
  epoch: count,
  releasedEpoch: count,
  leaseUntilMs: z.number().default(0),
  dueDoneMs: z.number().default(0),
  evaluatedMs: z.number().default(0),
  nowMs: z.number().default(0),
  specVersion: count,
  writeNumber: count,
  token: z.string().default(""),
  pageGeneration: count,
  pages: z.array(count).default([]),
  intents: z.record(z.string(), z.instanceof(Uint8Array)).default({}),
  movingVersion: z.number().int().exactOptional(),
  protocol: count,
});

/**
 * True when the sync before this claim released its lease after all its writes. Otherwise it died or failed between two writes: what an environment remembers does not count, and late
 * writes may still be on their way.
 */
export const followsCleanRelease = ({ epoch, releasedEpoch }: Pick<Head, "epoch" | "releasedEpoch">): boolean => releasedEpoch === epoch - 1;

/** The head as its item says; what nobody wrote yet is zero. */
export const headOf = (item: Readonly<Record<string, AttributeValue>>): Head => {
  const { intents: bodies, ...rest } = stored.parse(unmarshall(item));
  return { ...rest, ...headIntentsOf(bodies) };
};

export const readHeadParams = (stateTable: string, ref: PartitionRef): GetItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(ref)),
  ConsistentRead: true,
});

/** The head, read strongly; absent before the first claim. */
export const readHead = async (tables: Tables, ref: PartitionRef): Promise<Head | undefined> => {
  const { Item } = await repeat(tables, `read the head of "${ref.cluster}/${ref.partition}"`, () =>
    tables.client.send(new GetItemCommand(readHeadParams(tables.stateTable, ref))),
  );
  return Item && headOf(Item);
};
