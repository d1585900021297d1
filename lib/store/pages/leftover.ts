import { DeleteItemCommand, type DeleteItemCommandInput, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../model/ids.ts";
import { itemKey, type Key, pageKey, pagesBelow, pagesEnd } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import { isRefusal, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";

/** The pages that a head names: `count` pages of one generation. */
export interface NamedPages {
  readonly partition: PartitionRef;
  readonly generation: number;
  readonly count: number;
}

/** Most pages that one call deletes. The next call deletes more. */
export const MOST_DELETED = 100;

/**
 * The ranges of keys on both sides of the named pages: the pages of older generations, and of a generation that no release named, or named with fewer pages. Named pages are not
 * read, so that a clean partition costs two empty queries.
 */
export const leftoverParams = (stateTable: string, { partition, generation, count }: NamedPages): readonly QueryCommandInput[] => {
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
 *  A (epoch 5)  writes generation 3 ── (overtaken)                    its release is refused, so that no head will ever name those pages
 *  B (epoch 6)                      claims, releases generation 2 ── deletes pages of epoch < 6
 *  C (epoch 7)                                                     claims, writes generation 3@7: the condition keeps B from deleting it
 */
export const EARLIER = "epoch < :epoch";

export const deleteLeftoverParams = (stateTable: string, key: Key, epoch: number): DeleteItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(key),
  ConditionExpression: EARLIER,
  ExpressionAttributeValues: { ":epoch": { N: String(epoch) } },
});

/** Deletes pages that no head names and that were written before `epoch`, and returns their number. Call it after the release that named the others. */
export const deleteLeftovers = async (tables: Tables, named: NamedPages, epoch: number): Promise<number> => {
  const words = `leftover windows pages of "${named.partition.cluster}/${named.partition.partition}"`;
  let deleted = 0;
  for (const params of leftoverParams(tables.stateTable, named)) {
    for await (const { pk, sk } of readAll(tables, `look for ${words}`, params)) {
      if (deleted === MOST_DELETED) return deleted;
      if (await deleteEarlier(tables, words, { pk: pk?.S ?? "", sk: sk?.S ?? "" }, epoch)) deleted++;
    }
  }
  return deleted;
};

const deleteEarlier = async (tables: Tables, words: string, key: Key, epoch: number): Promise<boolean> => {
  const params = deleteLeftoverParams(tables.stateTable, key, epoch);
  try {
    await repeat(tables, `delete ${words}`, () => tables.client.send(new DeleteItemCommand(params)));
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
};
