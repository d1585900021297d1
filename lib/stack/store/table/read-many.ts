import {
  type AttributeValue,
  BatchGetItemCommand,
  GetItemCommand,
  QueryCommand,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import { repeat, backOff } from "./repeat.ts";
import type { Tables } from "./tables.ts";
import { itemKey, type Key } from "./keys.ts";
import { mapWithLimit } from "./wait-for-all.ts";

/** Every item of a query, page by page. Only one page is in memory. */
export async function* readAll(
  tables: Tables,
  action: string,
  params: QueryCommandInput,
): AsyncGenerator<Record<string, AttributeValue>> {
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page = await repeat(tables, action, () =>
      tables.client.send(new QueryCommand({ ...params, ...(from && { ExclusiveStartKey: from }) })),
    );
    yield* page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from);
}

/** A strong query of all items under a partition key of the state table. */
export const itemsUnder = ({ stateTable }: Tables, pk: string): QueryCommandInput => ({
  TableName: stateTable,
  KeyConditionExpression: "pk = :pk",
  ExpressionAttributeValues: { ":pk": { S: pk } },
  ConsistentRead: true,
});

/** One item of the state table, read strongly; absent when there is none. */
export const getItem = async (
  tables: Tables,
  action: string,
  key: Key,
): Promise<Item | undefined> => {
  const params = { TableName: tables.stateTable, Key: itemKey(key), ConsistentRead: true };
  const { Item: item } = await repeat(tables, action, () =>
    tables.client.send(new GetItemCommand(params)),
  );
  return item;
};

/** Most keys of one BatchGetItem (limit of DynamoDB). */
export const KEYS_MAX = 100;
/** Requests of one call that are under way together. */
const PARALLEL = 16;

type Item = Readonly<Record<string, AttributeValue>>;

const textOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

interface BatchOptions {
  readonly consistent: boolean;
  /** Absent: the state table. */
  readonly table?: string;
  /** The attributes that are wanted beside the key; absent is all. Units are the same. */
  readonly attributes?: readonly string[];
}

/**
 * Many items of a table by their keys, of which no two are equal: a hundred to a request, 16
 * requests at once. In the order of the keys; `undefined` where there is no item.
 */
export const batchGet = async (
  tables: Tables,
  action: string,
  keys: readonly Key[],
  options: BatchOptions,
): Promise<readonly (Item | undefined)[]> => {
  const batches = Array.from({ length: Math.ceil(keys.length / KEYS_MAX) }, (_, at) =>
    keys.slice(at * KEYS_MAX, (at + 1) * KEYS_MAX),
  );
  const found = new Map<string, Item>();
  await mapWithLimit(batches, PARALLEL, (batch) =>
    getBatch(tables, action, { keys: batch, options, found }),
  );
  return keys.map((key) => found.get(textOf(key)));
};

/**
 * A throttled key comes back as unprocessed, and so does what does not fit 16 MB. Only these are
 * asked for again.
 */
const getBatch = async (
  tables: Tables,
  action: string,
  {
    keys,
    options,
    found,
  }: {
    readonly keys: readonly Key[];
    readonly options: BatchOptions;
    readonly found: Map<string, Item>;
  },
): Promise<void> => {
  const { consistent, attributes, table: name = tables.stateTable } = options;
  const projection = attributes && { ProjectionExpression: ["pk", "sk", ...attributes].join(", ") };
  let left: readonly Record<string, AttributeValue>[] = keys.map(itemKey);
  for (let attempt = 1; left.length > 0; attempt++) {
    const request = {
      RequestItems: { [name]: { Keys: [...left], ConsistentRead: consistent, ...projection } },
    };
    const { Responses, UnprocessedKeys } = await repeat(tables, action, () =>
      tables.client.send(new BatchGetItemCommand(request)),
    );
    for (const item of Responses?.[name] ?? [])
      found.set(textOf({ pk: item["pk"]?.S ?? "", sk: item["sk"]?.S ?? "" }), item);
    left = UnprocessedKeys?.[name]?.Keys ?? [];
    if (left.length > 0) await backOff(tables, action, attempt, undefined);
  }
};
