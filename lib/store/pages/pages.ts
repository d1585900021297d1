import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import type { PartitionRef } from "../../model/ids.ts";
import { itemKey, pageKey } from "../table/keys.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";

/** Identifies a page. The pages of one generation share the autoscalers of the partition by a hash of the uid. */
export interface PageId {
  readonly partition: PartitionRef;
  readonly generation: number;
  readonly index: number;
}

/** A page as its item holds it. Each epoch writes a page at most once, so that the epoch of the writer is its version. */
export interface PageItem {
  readonly epoch: number;
  readonly body: Uint8Array;
}

export const readPageParams = (stateTable: string, { partition, generation, index }: PageId): GetItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(pageKey(partition, generation, index)),
  ConsistentRead: true,
});

const readItem = async (tables: Tables, id: PageId): Promise<Readonly<Record<string, AttributeValue>> | undefined> => {
  const { Item } = await repeat(tables, `read ${nameOf(id)}`, () => tables.client.send(new GetItemCommand(readPageParams(tables.stateTable, id))));
  return Item;
};

/** Reads one page strongly; absent when there is no item, or it has not the attributes of a page. */
export const readPage = async (tables: Tables, id: PageId): Promise<PageItem | undefined> => {
  const Item = await readItem(tables, id);
  const epoch = Number(Item?.["epoch"]?.N);
  const body = Item?.["body"]?.B;
  return Number.isInteger(epoch) && body ? { epoch, body } : undefined;
};

/** The bytes of a page for the history: its body, or the whole item as JSON where it has no body; absent when there is no item. */
export const readPageBytes = async (tables: Tables, id: PageId): Promise<Uint8Array | undefined> => {
  const item = await readItem(tables, id);
  if (!item) return undefined;
  return (
    item["body"]?.B ??
    Buffer.from(JSON.stringify(item, (_key, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value)))
  );
};

/*
 *  A (epoch 5)  reads page@3 ───────────────(stalled)─────────── writes page@5 ✗    the page is @6, not @3 (AS_READ)
 *  B (epoch 6)          claims, unclean: reads page@3, writes page@6, releases
 *
 * A page that no head names yet may be a leftover of a dead sync. It is overwritten, but only by a later epoch (NOT_NAMED).
 */
export const AS_READ = "epoch = :read";
export const NOT_NAMED = "attribute_not_exists(epoch) OR epoch < :epoch";

export interface PageWrite {
  readonly id: PageId;
  /** Epoch of the writer. */
  readonly epoch: number;
  /** Epoch of the page when it was read; absent for a page that the head does not name. */
  readonly readEpoch?: number;
  readonly body: Uint8Array;
}

export const writePageParams = (stateTable: string, { id, epoch, readEpoch, body }: PageWrite): PutItemCommandInput => {
  const key: Record<string, AttributeValue> = itemKey(pageKey(id.partition, id.generation, id.index));
  return {
    TableName: stateTable,
    Item: { ...key, epoch: { N: String(epoch) }, body: { B: body } },
    ConditionExpression: readEpoch === undefined ? NOT_NAMED : AS_READ,
    ExpressionAttributeValues: readEpoch === undefined ? { ":epoch": { N: String(epoch) } } : { ":read": { N: String(readEpoch) } },
  };
};

/** Writes one page. Throws `store.lease-lost` when it is not as it was read: this sync ends, and the sync that wrote it continues. */
export const writePage = async (tables: Tables, write: PageWrite): Promise<void> => {
  const { epoch, readEpoch = 0 } = write;
  if (readEpoch === epoch) throw new RangeError("a page is written once per epoch, by a later one");
  // The writer stood still between its claim and its read of the page, and another holder claimed meanwhile.
  if (readEpoch > epoch) throw overtaken({ ...write, readEpoch: epoch }, readEpoch);
  try {
    await repeat(tables, `write ${nameOf(write.id)}`, () => tables.client.send(new PutItemCommand(writePageParams(tables.stateTable, write))));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const stored = await readPage(tables, write.id);
    // Only one write has this epoch. So the refused request was the repeat of a request that was executed.
    if (stored?.epoch === write.epoch) return;
    throw overtaken(write, stored?.epoch);
  }
};

const overtaken = ({ id, epoch, readEpoch }: PageWrite, storedEpoch: number | undefined): TidemarkError =>
  new TidemarkError("store.lease-lost", `Cannot write ${nameOf(id)}: its epoch is ${storedEpoch ?? "none"}, not ${readEpoch ?? "none"}`, {
    ...id.partition,
    page: id.index,
    mine: epoch,
    found: storedEpoch,
  });

/** Deletes a page of a generation that the head no longer names. */
export const deletePage = async (tables: Tables, id: PageId): Promise<void> => {
  const params = { TableName: tables.stateTable, Key: itemKey(pageKey(id.partition, id.generation, id.index)) };
  await repeat(tables, `delete ${nameOf(id)}`, () => tables.client.send(new DeleteItemCommand(params)));
};

const nameOf = ({ partition, generation, index }: PageId): string =>
  `windows page ${generation}/${index} of "${partition.cluster}/${partition.partition}"`;
