import { isDeepStrictEqual } from "node:util";
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { cached, conditionOf, type Item, type Terms, updateOf } from "./memory-expressions.ts";

/** Items of a page of a query, when the request does not say: few, so that every reader pages. */
const PAGE_MAX = 50;
/** Of the same in a table that pages as DynamoDB does: a page ends before it has more bytes. */
const PAGE_BYTES = 1_048_576;
/** One read unit. */
const UNIT_BYTES = 4_096;
const ITEM_BYTES_MAX = 409_600;

/**
 * Items by partition key, then by sort key. What is stored is never changed in place, so that
 * requests, items and answers may share their parts.
 */
export interface Table {
  readonly name: string;
  readonly partitions: Map<string, Map<string, Item>>;
}
/** `small`: pages of few items. `whole`: of as many as DynamoDB gives, by their bytes. */
export type Paging = "small" | "whole";
type Client = Pick<DynamoDBClient, "send">;

/** Called after every write that took effect, with the item before and after it. */
export type OnWrite = (table: string, before: Item | undefined, after: Item | undefined) => void;

const named = (name: string): Error => Object.assign(new Error(name), { name });
/**
 * The refusal of a condition: an answer like others, many a second, so that it tells no stack of
 * its own.
 */
const REFUSAL = named("ConditionalCheckFailedException");
const pkOf = (item: Item): string => item["pk"]?.S ?? "";
const skOf = (item: Item): string => item["sk"]?.S ?? "";
const found = ({ partitions }: Table, key: Item): Item | undefined =>
  partitions.get(pkOf(key))?.get(skOf(key));
/** Names and values, as the service counts an item: a number is a byte for two of its digits. */
const sizeOf = (item: Item): number => {
  let sum = 0;
  for (const name in item) {
    const value = item[name];
    if (value) sum += name.length + valueSize(value);
  }
  return sum;
};
const valueSize = ({ S, N, B, M, L }: Item[string]): number => {
  if (M) return sizeOf(M) + 3;
  if (L) return L.reduce((sum, value) => sum + 1 + valueSize(value), 3);
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  return B?.length ?? 1;
};
/** Read units of so many bytes: half of them for an eventual read, and never none. */
const readUnits = (bytes: number, consistent: boolean | undefined): number =>
  Math.max(1, Math.ceil(bytes / UNIT_BYTES)) / (consistent ? 1 : 2);
const capacityOf = (name: string | undefined, units: number) => ({
  TableName: name,
  CapacityUnits: units,
});

/**
 * The items of a partition in the order of their sort keys, until a key comes or goes: a reader of a
 * long partition asks many times.
 */
const sorted = new WeakMap<Map<string, Item>, readonly string[]>();
const inOrder = (partition: Map<string, Item>): readonly string[] => {
  const keys = sorted.get(partition) ?? [...partition.keys()].sort();
  sorted.set(partition, keys);
  return keys;
};

interface Expressed {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}
const termsOf = (input: Expressed): Terms => ({
  names: input.ExpressionAttributeNames ?? {},
  values: input.ExpressionAttributeValues ?? {},
});

interface Tables {
  readonly table: (name: string | undefined) => Table;
  readonly onWrite: OnWrite;
  readonly paging: Paging;
}

const guard = (item: Item | undefined, condition: string | undefined, terms: Terms): void => {
  if (condition !== undefined && !conditionOf(condition)(item ?? {}, terms)) throw REFUSAL;
};

const store = ({ onWrite }: Tables, into: Table, item: Item): void => {
  if (sizeOf(item) > ITEM_BYTES_MAX) throw named("ValidationException");
  const partition = into.partitions.get(pkOf(item)) ?? new Map<string, Item>();
  into.partitions.set(pkOf(item), partition);
  const before = partition.get(skOf(item));
  if (!before) sorted.delete(partition);
  partition.set(skOf(item), item);
  onWrite(into.name, before, item);
};

const get = ({ table }: Tables, { input }: GetItemCommand): object => {
  const item = found(table(input.TableName), input.Key ?? {});
  const units = readUnits(item ? sizeOf(item) : 0, input.ConsistentRead);
  return { ...(item && { Item: item }), ConsumedCapacity: capacityOf(input.TableName, units) };
};

/** A batch is charged item by item, and for each key without an item. */
const batchGet = ({ table }: Tables, { input }: BatchGetItemCommand): object => {
  const read = Object.entries(input.RequestItems ?? {}).map(
    ([name, { Keys = [], ConsistentRead }]) => {
      const items = Keys.map((key) => found(table(name), key));
      const units = items.map((item) => readUnits(item ? sizeOf(item) : 0, ConsistentRead));
      return { name, items, units: units.reduce((sum, each) => sum + each, 0) };
    },
  );
  return {
    Responses: Object.fromEntries(
      read.map(({ name, items }) => [name, items.filter((item) => item !== undefined)]),
    ),
    ConsumedCapacity: read.map(({ name, units }) => capacityOf(name, units)),
  };
};

const put = (tables: Tables, { input }: PutItemCommand): object => {
  const into = tables.table(input.TableName);
  guard(found(into, input.Item ?? {}), input.ConditionExpression, termsOf(input));
  store(tables, into, input.Item ?? {});
  return {};
};

const update = (tables: Tables, { input }: UpdateItemCommand): object => {
  const into = tables.table(input.TableName);
  const before = found(into, input.Key ?? {});
  guard(before, input.ConditionExpression, termsOf(input));
  const after = updateOf(input.UpdateExpression ?? "")(before ?? { ...input.Key }, termsOf(input));
  store(tables, into, after);
  if (input.ReturnValues === "UPDATED_NEW")
    return {
      Attributes: Object.fromEntries(
        Object.entries(after).filter(
          ([name, value]) => !isDeepStrictEqual((before ?? input.Key)?.[name], value),
        ),
      ),
    };
  return input.ReturnValues === "ALL_NEW" ? { Attributes: after } : {};
};

const remove = ({ table, onWrite }: Tables, { input }: DeleteItemCommand): object => {
  const into = table(input.TableName);
  const key = input.Key ?? {};
  const before = found(into, key);
  guard(before, input.ConditionExpression, termsOf(input));
  const partition = into.partitions.get(pkOf(key));
  if (partition && before) sorted.delete(partition);
  partition?.delete(skOf(key));
  if (before) onWrite(into.name, before, undefined);
  return {};
};

const answer = (tables: Tables, command: unknown): object => {
  if (command instanceof GetItemCommand) return get(tables, command);
  if (command instanceof BatchGetItemCommand) return batchGet(tables, command);
  if (command instanceof PutItemCommand) return put(tables, command);
  if (command instanceof UpdateItemCommand) return update(tables, command);
  if (command instanceof DeleteItemCommand) return remove(tables, command);
  if (command instanceof QueryCommand) return query(tables, command);
  if (command instanceof BatchExecuteStatementCommand)
    return { Responses: (command.input.Statements ?? []).map((one) => insert(tables, one)) };
  throw new TypeError("the engine in memory does not know this command");
};

/**
 * The tables in memory, for tests that play many thousand syncs: the requests of this project, the
 * conditions of DynamoDB, one after the other. It passes the same contract suite as the engines
 * that it stands for.
 */
export const memoryEngine = (
  paging: Paging = "small",
): { readonly client: Client; readonly table: (name: string) => Table } => {
  const { execute, table } = memoryTables(() => {}, paging);
  // It answers at once, but never in the same turn: callers interleave as they do over a network.
  const send = async (command: unknown): Promise<object> => {
    await Promise.resolve();
    return execute(command);
  };
  return { client: { send: send as DynamoDBClient["send"] }, table };
};

/**
 * The same, one command after the other: answers at once or throws, for a caller that decides
 * itself when a request takes effect.
 */
export const memoryTables = (
  onWrite: OnWrite = () => {},
  paging: Paging = "small",
): { readonly execute: (command: unknown) => object; readonly table: Tables["table"] } => {
  const byName = new Map<string, Table>();
  const table: Tables["table"] = (name = "") => {
    const known = byName.get(name) ?? { name, partitions: new Map<string, Map<string, Item>>() };
    byName.set(name, known);
    return known;
  };
  return { execute: (command) => answer({ table, onWrite, paging }, command), table };
};

const query = (tables: Tables, { input }: QueryCommand): object => {
  const terms = termsOf(input);
  const wanted = conditionOf(input.KeyConditionExpression ?? "");
  const { partitions } = tables.table(input.TableName);
  // Every query of this project names its partition key so.
  const partition = partitions.get(terms.values[":pk"]?.S ?? "") ?? new Map<string, Item>();
  const matching = inOrder(partition)
    .map((sk) => partition.get(sk) ?? {})
    .filter((item) => wanted(item, terms));
  if (input.ScanIndexForward === false) matching.reverse();
  const from = input.ExclusiveStartKey;
  // The item that a page ended with may be gone by now.
  const passed = (item: Item): boolean =>
    from !== undefined &&
    (input.ScanIndexForward === false ? skOf(item) >= skOf(from) : skOf(item) <= skOf(from));
  const rest = matching.slice(matching.filter(passed).length);
  const page = rest.slice(0, pageLength(rest, input.Limit, tables.paging));
  const last = page.at(-1);
  // A page that ends at its limit names a key, though there may be nothing behind it.
  const more = last !== undefined && (page.length < rest.length || page.length === input.Limit);
  const kept =
    input.FilterExpression === undefined
      ? page
      : page.filter((item) => conditionOf(input.FilterExpression ?? "")(item, terms));
  // What a filter leaves out is charged.
  const bytes = page.reduce((sum, item) => sum + sizeOf(item), 0);
  return {
    Items: kept,
    Count: kept.length,
    ScannedCount: page.length,
    ConsumedCapacity: capacityOf(input.TableName, readUnits(bytes, input.ConsistentRead)),
    ...(more && { LastEvaluatedKey: { pk: last["pk"], sk: last["sk"] } }),
  };
};

const pageLength = (items: readonly Item[], limit: number | undefined, paging: Paging): number => {
  if (paging === "small") return limit ?? PAGE_MAX;
  const most = Math.min(items.length, limit ?? items.length);
  let [bytes, length] = [0, 0];
  for (; length < most; length++) {
    bytes += sizeOf(items[length] ?? {});
    if (length > 0 && bytes > PAGE_BYTES) break;
  }
  return length;
};

const INSERT = /^INSERT INTO "([^"]+)" VALUE \{(.*)\}$/;

/** Table and attributes of a statement; read once for all that say the same. */
const insertionOf = cached(
  (statement: string): { readonly name: string; readonly attributes: readonly string[] } => {
    const [, name = "", fields = ""] = INSERT.exec(statement) ?? [];
    return { name, attributes: fields.split(", ").map((field) => field.split("'")[1] ?? "") };
  },
);

/** One `INSERT INTO "table" VALUE {'name': ?, …}`; a key that is there is a duplicate. */
const insert = (
  tables: Tables,
  {
    Statement = "",
    Parameters = [],
  }: { Statement?: string | undefined; Parameters?: Item[string][] | undefined },
): object => {
  const { name, attributes } = insertionOf(Statement);
  const into = tables.table(name);
  const item: Item = {};
  for (const [at, attribute] of attributes.entries())
    item[attribute] = Parameters[at] ?? { NULL: true };
  if (found(into, item))
    return { Error: { Code: "DuplicateItem", Message: "Duplicate primary key exists in table" } };
  store(tables, into, item);
  return {};
};
