import * as z from "zod";
import { type AttributeValue, DeleteItemCommand, GetItemCommand, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../model/ids.ts";
import { indexKey, itemKey, type Key, summaryKey } from "../table/keys.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { hash } from "node:crypto";
import type { IndexRow, PartitionIndex } from "../../model/summary.ts";
import { compress, decompress } from "../table/compressed.ts";

/** An item that follows from what a sync found, with the epoch of its writer. */
export interface DerivedItem {
  readonly epoch: number;
  readonly body: Uint8Array;
}

/*
 *  A (epoch 5)  ─────────(stalled)───────── writes @5 ✗     a later summary is there (NEWER)
 *  B (epoch 6)        claims, writes @6
 */
export const NEWER = "attribute_not_exists(epoch) OR epoch <= :epoch";

export const putDerivedParams = (stateTable: string, key: Key, { epoch, body }: DerivedItem): PutItemCommandInput => ({
  TableName: stateTable,
  Item: { ...itemKey(key), epoch: { N: String(epoch) }, body: { B: body } },
  ConditionExpression: NEWER,
  ExpressionAttributeValues: { ":epoch": { N: String(epoch) } },
});

/** True where it was stored, also by an earlier attempt. False where a later holder wrote one: the release of this sync will be refused. */
const putDerived = async (tables: Tables, action: string, key: Key, item: DerivedItem): Promise<boolean> => {
  try {
    await repeat(tables, action, () => tables.client.send(new PutItemCommand(putDerivedParams(tables.stateTable, key, item))));
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
};

export const putSummary = (tables: Tables, partition: PartitionRef, item: DerivedItem): Promise<boolean> =>
  putDerived(tables, `write the summary of "${partition.cluster}/${partition.partition}"`, summaryKey(partition), item);

export const putIndex = (tables: Tables, partition: PartitionRef, item: DerivedItem): Promise<boolean> =>
  putDerived(tables, `write the index of "${partition.cluster}/${partition.partition}"`, indexKey(partition), item);

/** The item in an answer; `undefined` where it is damaged. */
export const derivedItemOf = (item: Readonly<Record<string, AttributeValue>> | undefined): DerivedItem | undefined => {
  const epoch = Number(item?.["epoch"]?.N);
  const body = item?.["body"]?.B;
  return Number.isInteger(epoch) && body ? { epoch, body } : undefined;
};

/** Reads the summary item of one partition strongly; absent where there is none. */
export const readSummary = async (tables: Tables, partition: PartitionRef): Promise<DerivedItem | undefined> => {
  const request = { TableName: tables.stateTable, Key: itemKey(summaryKey(partition)), ConsistentRead: true };
  const { Item } = await repeat(tables, `read the summary of "${partition.cluster}/${partition.partition}"`, () =>
    tables.client.send(new GetItemCommand(request)),
  );
  return derivedItemOf(Item);
};

/** Deletes summary and index of a partition that ends. A sync that outlives it may write them once more: they say nothing about another partition of the name. */
export const deleteDerived = async (tables: Tables, partition: PartitionRef): Promise<void> => {
  for (const key of [summaryKey(partition), indexKey(partition)]) {
    const params = { TableName: tables.stateTable, Key: itemKey(key) };
    await repeat(tables, `delete the summary of "${partition.cluster}/${partition.partition}"`, () =>
      tables.client.send(new DeleteItemCommand(params)),
    );
  }
};

const VERSION = 1;

const target = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });
const paused = z.object({ by: z.string(), atMs: z.number(), untilMs: z.number().exactOptional() });
/** The parts of a row that few rows have. */
const rest = z.object({
  owner: z.string().exactOptional(),
  target: target.exactOptional(),
  minReplicas: z.number().exactOptional(),
  maxReplicas: z.number().exactOptional(),
  labels: z.record(z.string(), z.string()),
  paused: paused.exactOptional(),
  problem: z.string().exactOptional(),
});
const row = z.tuple([z.string(), z.string(), z.string(), z.number(), z.string(), z.number(), rest]);
const stored = z.tuple([z.number(), z.string(), z.array(row)]);

const rowValue = ({ namespace, name, uid, generation, kind, createdMs, ...parts }: IndexRow): z.infer<typeof row> => [
  namespace,
  name,
  uid,
  generation,
  kind,
  createdMs,
  parts,
];

const HASH_CHARACTERS = 8;

/** The body of an index, and a hash by which a sync knows that it is stored already. */
export const encodeIndex = ({ specVersion, clusterIncarnation, rows }: PartitionIndex): { readonly body: Uint8Array; readonly hash: string } => {
  const value = [specVersion, clusterIncarnation, rows.map(rowValue)];
  return { body: compress(VERSION, value), hash: hash("sha256", JSON.stringify(value), "base64url").slice(0, HASH_CHARACTERS) };
};

/** `undefined` for damage, or a later version: a reader then lists the autoscalers themselves. */
export const decodeIndex = (bytes: Uint8Array): PartitionIndex | undefined => {
  try {
    const { version, value } = decompress(bytes);
    if (version !== VERSION) return undefined;
    const [specVersion, clusterIncarnation, rows] = stored.parse(value);
    return {
      specVersion,
      clusterIncarnation,
      rows: rows.map(([namespace, name, uid, generation, kind, createdMs, parts]) => ({
        namespace,
        name,
        uid,
        generation,
        kind,
        createdMs,
        ...parts,
      })),
    };
  } catch {
    return undefined;
  }
};
