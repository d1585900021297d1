import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
  type DeleteItemCommandInput,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../../rules/model/errors.ts";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { itemKey, pageKey, type Key, pagesBelow, pagesEnd } from "../table/keys.ts";
import { isRefusal, repeat, repeatWrite, wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readAll } from "../table/read-many.ts";

/**
 * Identifies a page. The pages of one generation share the autoscalers of the partition by a hash
 * of the uid.
 */
export interface PageId {
  readonly partition: PartitionRef;
  readonly generation: number;
  readonly index: number;
}

/**
 * A page as its item holds it. Each epoch writes a page at most once, so that the epoch of the
 * writer is its version.
 */
export interface PageItem {
  readonly epoch: number;
  readonly body: Uint8Array;
}

export const readPageParams = (
  stateTable: string,
  { partition, generation, index }: PageId,
  isStrong = true,
): GetItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(pageKey(partition, generation, index)),
  ConsistentRead: isStrong,
});

const readItem = async (
  tables: Tables,
  id: PageId,
  isStrong = true,
): Promise<Readonly<Record<string, AttributeValue>> | undefined> => {
  const { Item } = await repeat(tables, `read ${nameOf(id)}`, () =>
    tables.client.send(new GetItemCommand(readPageParams(tables.stateTable, id, isStrong))),
  );
  return Item;
};

/**
 * Reads one page strongly; absent when there is no item, or it has not the attributes of a page.
 */
export const readPage = async (
  tables: Tables,
  id: PageId,
  isStrong = true,
): Promise<PageItem | undefined> => {
  const Item = await readItem(tables, id, isStrong);
  const epoch = Number(Item?.["epoch"]?.N);
  const body = Item?.["body"]?.B;
  return Number.isInteger(epoch) && body ? { epoch, body } : undefined;
};

/**
 * Reads one page that a head names, for a reader: for half of the units, and strongly where that
 * has an older version than the epoch in the head.
 */
export const readNamedPage = async (
  tables: Tables,
  id: PageId,
  epoch: number,
): Promise<PageItem | undefined> => {
  const found = await readPage(tables, id, false);
  return found && found.epoch >= epoch ? found : readPage(tables, id);
};

/**
 * The bytes of a page for the history: its body, or the whole item as JSON where it has no body;
 * absent when there is no item.
 */
export const readPageBytes = async (
  tables: Tables,
  id: PageId,
): Promise<Uint8Array | undefined> => {
  const item = await readItem(tables, id);
  if (!item) return undefined;
  return (
    item["body"]?.B ??
    Buffer.from(
      JSON.stringify(item, (_key, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
      ),
    )
  );
};

/*
 *  A (epoch 5)  reads page@3 ───────────────(stalled)─────────── writes page@5 ✗
 *         the page is @6, not @3 (AS_READ)
 *  B (epoch 6)          claims, unclean: reads page@3, writes page@6, releases
 *
 * A page that no head names yet may be a leftover of a dead sync. It is overwritten, but only by a
 * later epoch (NOT_NAMED).
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

export const writePageParams = (
  stateTable: string,
  { id, epoch, readEpoch, body }: PageWrite,
): PutItemCommandInput => {
  const key: Record<string, AttributeValue> = itemKey(
    pageKey(id.partition, id.generation, id.index),
  );
  return {
    TableName: stateTable,
    Item: { ...key, epoch: { N: String(epoch) }, body: { B: body } },
    ConditionExpression: readEpoch === undefined ? NOT_NAMED : AS_READ,
    ExpressionAttributeValues:
      readEpoch === undefined
        ? { ":epoch": { N: String(epoch) } }
        : { ":read": { N: String(readEpoch) } },
  };
};

/**
 * Writes one page. Throws `store.lease-lost` when it is not as it was read: this sync ends, and the
 * sync that wrote it continues.
 */
export const writePage = async (tables: Tables, write: PageWrite): Promise<void> => {
  const { epoch, readEpoch = 0 } = write;
  if (readEpoch === epoch) throw new RangeError("a page is written once per epoch, by a later one");
  // The writer stood still between its claim and its read of the page, and another holder claimed
  // meanwhile.
  if (readEpoch > epoch) throw overtaken({ ...write, readEpoch: epoch }, readEpoch);
  try {
    await repeatWrite(tables, `write ${nameOf(write.id)}`, () =>
      tables.client.send(new PutItemCommand(writePageParams(tables.stateTable, write))),
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const stored = await readPage(tables, write.id);
    // Only one write has this epoch. So the refused request was the repeat of a request that was
    // executed.
    if (stored?.epoch === write.epoch) return;
    throw overtaken(write, stored?.epoch);
  }
};

const overtaken = (
  { id, epoch, readEpoch }: PageWrite,
  storedEpoch: number | undefined,
): TidemarkError =>
  new TidemarkError(
    "store.lease-lost",
    `Cannot write ${nameOf(id)}: its epoch is ${storedEpoch ?? "none"}, not ${readEpoch ?? "none"}`,
    {
      ...id.partition,
      page: id.index,
      mine: epoch,
      found: storedEpoch,
    },
  );

/** Deletes a page of a generation that the head no longer names. */
export const deletePage = async (tables: Tables, id: PageId): Promise<void> => {
  const params = {
    TableName: tables.stateTable,
    Key: itemKey(pageKey(id.partition, id.generation, id.index)),
  };
  await repeatWrite(tables, `delete ${nameOf(id)}`, () =>
    tables.client.send(new DeleteItemCommand(params)),
  );
};

const nameOf = ({ partition, generation, index }: PageId): string =>
  `windows page ${generation}/${index} of "${partition.cluster}/${partition.partition}"`;

/** The pages that a head names: `count` pages of one generation. */
export interface NamedPages {
  readonly partition: PartitionRef;
  readonly generation: number;
  readonly count: number;
}

/** Most pages that one call deletes. The next call deletes more. */
export const MOST_DELETED = 100;

/**
 * The ranges of keys on both sides of the named pages: the pages of older generations, and of a
 * generation that no release named, or named with fewer pages. Named pages are not read, so that a
 * clean partition costs two empty queries.
 */
export const leftoverParams = (
  stateTable: string,
  { partition, generation, count }: NamedPages,
): readonly QueryCommandInput[] => {
  const { pk, sk: beyond } = pageKey(partition, generation, count);
  const between = (from: string, to: string): QueryCommandInput => ({
    TableName: stateTable,
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
    ExpressionAttributeValues: { ":pk": { S: pk }, ":from": { S: from }, ":to": { S: to } },
    ConsistentRead: true,
    Limit: MOST_DELETED,
  });
  return [between(pagesBelow(0), pagesBelow(generation)), between(beyond, pagesEnd)];
};

/*
 *  A (epoch 5)  writes generation 3 ── (overtaken)
 *         its release is refused, so that no head will ever name those pages
 *  B (epoch 6)                      claims, releases generation 2 ── deletes pages of epoch < 6
 *  C (epoch 7)
 *         claims, writes generation 3@7: the condition keeps B from deleting it
 */
export const EARLIER = "epoch < :epoch";

export const deleteLeftoverParams = (
  stateTable: string,
  key: Key,
  epoch: number,
): DeleteItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(key),
  ConditionExpression: EARLIER,
  ExpressionAttributeValues: { ":epoch": { N: String(epoch) } },
});

/**
 * Deletes pages that no head names and that were written before `epoch`, and returns their number.
 * Call it after the release that named the others.
 */
export const deleteLeftovers = async (
  tables: Tables,
  named: NamedPages,
  epoch: number,
): Promise<number> => {
  const words = `leftover windows pages of "${named.partition.cluster}/${named.partition.partition}"`;
  let deleted = 0;
  for (const params of leftoverParams(tables.stateTable, named)) {
    for await (const { pk, sk } of readAll(tables, `look for ${words}`, params)) {
      if (deleted === MOST_DELETED) return deleted;
      if (await deleteEarlier(tables, words, { pk: pk?.S ?? "", sk: sk?.S ?? "" }, epoch))
        deleted++;
    }
  }
  return deleted;
};

const deleteEarlier = (
  tables: Tables,
  words: string,
  key: Key,
  epoch: number,
): Promise<boolean> => {
  const params = deleteLeftoverParams(tables.stateTable, key, epoch);
  return wasExecuted(tables, `delete ${words}`, () =>
    tables.client.send(new DeleteItemCommand(params)),
  );
};
