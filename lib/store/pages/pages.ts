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
import { itemKey } from "../table/item-key.ts";
import { pageKey } from "../table/keys.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";

/** Where a page lies: pages of one generation divide the partition's autoscalers among them by a hash of the uid. */
export interface PagePlace {
  readonly partition: PartitionRef;
  readonly generation: number;
  readonly index: number;
}

/** A page as its item holds it. A page is written once per epoch at most, so the epoch of its writer is its version. */
export interface PageItem {
  readonly epoch: number;
  readonly body: Uint8Array;
}

export const readPageParams = (stateTable: string, { partition, generation, index }: PagePlace): GetItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(pageKey(partition, generation, index)),
  ConsistentRead: true,
});

const readItem = async (tables: Tables, place: PagePlace): Promise<Readonly<Record<string, AttributeValue>> | undefined> => {
  const { Item } = await repeat(tables, `read ${nameOf(place)}`, () =>
    tables.client.send(new GetItemCommand(readPageParams(tables.stateTable, place))),
  );
  return Item;
};

/** One page, read strongly; absent when there is no such item or its attributes are not those of a page. */
export const readPage = async (tables: Tables, place: PagePlace): Promise<PageItem | undefined> => {
  const Item = await readItem(tables, place);
  const epoch = Number(Item?.["epoch"]?.N);
  const body = Item?.["body"]?.B;
  return Number.isInteger(epoch) && body ? { epoch, body } : undefined;
};

/** What the item of a page holds, whatever it is: its body, else all of it as JSON; absent when there is none. */
export const readPageBytes = async (tables: Tables, place: PagePlace): Promise<Uint8Array | undefined> => {
  const item = await readItem(tables, place);
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
 * A page that no head names yet may be the leavings of a holder that died: it is written over, but only by a later epoch (NOT_NAMED).
 */
export const AS_READ = "epoch = :read";
export const NOT_NAMED = "attribute_not_exists(epoch) OR epoch < :epoch";

export interface PageWrite {
  readonly place: PagePlace;
  /** Epoch of the writer. */
  readonly epoch: number;
  /** Epoch found when it was read; absent for a page that the head does not name. */
  readonly readEpoch?: number;
  readonly body: Uint8Array;
}

export const writePageParams = (stateTable: string, { place, epoch, readEpoch, body }: PageWrite): PutItemCommandInput => {
  const key: Record<string, AttributeValue> = itemKey(pageKey(place.partition, place.generation, place.index));
  return {
    TableName: stateTable,
    Item: { ...key, epoch: { N: String(epoch) }, body: { B: body } },
    ConditionExpression: readEpoch === undefined ? NOT_NAMED : AS_READ,
    ExpressionAttributeValues: readEpoch === undefined ? { ":epoch": { N: String(epoch) } } : { ":read": { N: String(readEpoch) } },
  };
};

/** Writes one page. Throws `store.lease-lost` when it is not as it was read: the sync ends, and whoever wrote it carries on. */
export const writePage = async (tables: Tables, write: PageWrite): Promise<void> => {
  if (write.readEpoch !== undefined && write.readEpoch >= write.epoch) throw new RangeError("a page is written once per epoch, by a later one");
  try {
    await repeat(tables, `write ${nameOf(write.place)}`, () => tables.client.send(new PutItemCommand(writePageParams(tables.stateTable, write))));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const found = await readPage(tables, write.place);
    // Only a holder of this epoch writes this epoch, and once: then the refused request was the repeat of one that was executed.
    if (found?.epoch === write.epoch) return;
    const details = { ...write.place.partition, page: write.place.index, mine: write.epoch, found: found?.epoch };
    throw new TidemarkError(
      "store.lease-lost",
      `Cannot write ${nameOf(write.place)}: its epoch is ${found?.epoch ?? "none"}, not ${write.readEpoch ?? "none"}`,
      details,
    );
  }
};

/** Removes a page of a generation that no head names any longer. */
export const deletePage = async (tables: Tables, place: PagePlace): Promise<void> => {
  const params = { TableName: tables.stateTable, Key: itemKey(pageKey(place.partition, place.generation, place.index)) };
  await repeat(tables, `delete ${nameOf(place)}`, () => tables.client.send(new DeleteItemCommand(params)));
};

const nameOf = ({ partition, generation, index }: PagePlace): string =>
  `windows page ${generation}/${index} of "${partition.cluster}/${partition.partition}"`;
