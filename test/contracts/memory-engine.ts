import {
  BatchExecuteStatementCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { conditionOf, type Item, type Terms, updateOf } from "./memory-expressions.ts";

/** Items of a page of a query, when the request does not say: few, so that every reader pages. */
const PAGE_MAX = 50;
const ITEM_BYTES_MAX = 409_600;

type Table = Map<string, Item>;
type Client = Pick<DynamoDBClient, "send">;

const named = (name: string): Error => Object.assign(new Error(name), { name });
const keyOf = (item: Item): string => `${item["pk"]?.S}\u0000${item["sk"]?.S}`;
/** Names and values, as the service counts an item; numbers count as their digits. */
const sizeOf = (item: Item): number => Object.entries(item).reduce((sum, [name, value]) => sum + name.length + valueSize(value), 0);
const valueSize = ({ S, N, B, M, L }: Item[string]): number => {
  if (M) return sizeOf(M) + 3;
  if (L) return L.reduce((sum, value) => sum + 1 + valueSize(value), 3);
  return S?.length ?? N?.length ?? B?.length ?? 1;
};

interface Expressed {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}
const termsOf = (input: Expressed): Terms => ({ names: input.ExpressionAttributeNames ?? {}, values: input.ExpressionAttributeValues ?? {} });

type TableOf = (name: string | undefined) => Table;

const guard = (item: Item | undefined, condition: string | undefined, terms: Terms): void => {
  if (condition !== undefined && !conditionOf(condition)(item ?? {}, terms)) throw named("ConditionalCheckFailedException");
};

const store = (into: Table, item: Item): void => {
  if (sizeOf(item) > ITEM_BYTES_MAX) throw named("ValidationException");
  into.set(keyOf(item), item);
};

const get = (table: TableOf, { input }: GetItemCommand): object => {
  const item = table(input.TableName).get(keyOf(input.Key ?? {}));
  return item ? { Item: structuredClone(item) } : {};
};

const put = (table: TableOf, { input }: PutItemCommand): object => {
  const into = table(input.TableName);
  guard(into.get(keyOf(input.Item ?? {})), input.ConditionExpression, termsOf(input));
  store(into, structuredClone(input.Item ?? {}));
  return {};
};

const update = (table: TableOf, { input }: UpdateItemCommand): object => {
  const into = table(input.TableName);
  const before = into.get(keyOf(input.Key ?? {}));
  guard(before, input.ConditionExpression, termsOf(input));
  const after = updateOf(input.UpdateExpression ?? "")(before ?? { ...input.Key }, termsOf(input));
  store(into, after);
  return input.ReturnValues === "ALL_NEW" ? { Attributes: structuredClone(after) } : {};
};

const remove = (table: TableOf, { input }: DeleteItemCommand): object => {
  const into = table(input.TableName);
  guard(into.get(keyOf(input.Key ?? {})), input.ConditionExpression, termsOf(input));
  into.delete(keyOf(input.Key ?? {}));
  return {};
};

const answer = (table: TableOf, command: unknown): object => {
  if (command instanceof GetItemCommand) return get(table, command);
  if (command instanceof PutItemCommand) return put(table, command);
  if (command instanceof UpdateItemCommand) return update(table, command);
  if (command instanceof DeleteItemCommand) return remove(table, command);
  if (command instanceof QueryCommand) return query(table(command.input.TableName), command);
  if (command instanceof BatchExecuteStatementCommand) return { Responses: (command.input.Statements ?? []).map((one) => insert(table, one)) };
  throw new TypeError("the engine in memory does not know this command");
};

/**
 * The tables in memory, for tests that play many thousand syncs: the requests of this project, the conditions of DynamoDB, one after the other. It passes the same contract
 * suite as the engines that it stands for.
 */
export const memoryEngine = (): { readonly client: Client } => {
  const tables = new Map<string, Table>();
  const table: TableOf = (name = "") => {
    const found = tables.get(name) ?? new Map<string, Item>();
    tables.set(name, found);
    return found;
  };
  // It answers at once, but never in the same turn: callers interleave as they do over a network.
  const send = async (command: unknown): Promise<object> => {
    await Promise.resolve();
    return answer(table, command);
  };
  return { client: { send: send as DynamoDBClient["send"] } };
};

const query = (from: Table, { input }: QueryCommand): object => {
  const terms = termsOf(input);
  const wanted = conditionOf(input.KeyConditionExpression ?? "");
  const found = [...from.values()].filter((item) => wanted(item, terms)).sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  if (input.ScanIndexForward === false) found.reverse();
  const after = input.ExclusiveStartKey ? found.findIndex((item) => keyOf(item) === keyOf(input.ExclusiveStartKey ?? {})) + 1 : 0;
  const page = found.slice(after, after + (input.Limit ?? PAGE_MAX));
  const last = page.at(-1);
  const more = last !== undefined && after + page.length < found.length;
  const kept = input.FilterExpression === undefined ? page : page.filter((item) => conditionOf(input.FilterExpression ?? "")(item, terms));
  return { Items: structuredClone(kept), ...(more && { LastEvaluatedKey: { pk: last["pk"], sk: last["sk"] } }) };
};

const INSERT = /^INSERT INTO "([^"]+)" VALUE \{(.*)\}$/;

/** One `INSERT INTO "table" VALUE {'name': ?, …}`; a key that is there is a duplicate. */
const insert = (
  table: (name: string) => Table,
  { Statement = "", Parameters = [] }: { Statement?: string | undefined; Parameters?: Item[string][] | undefined },
): object => {
  const [, name = "", fields = ""] = INSERT.exec(Statement) ?? [];
  const into = table(name);
  const entries = fields.split(", ").map((field, at) => [field.split("'")[1] ?? "", Parameters[at] ?? { NULL: true }] as const);
  const item: Item = structuredClone(Object.fromEntries(entries));
  if (into.has(keyOf(item))) return { Error: { Code: "DuplicateItem", Message: "Duplicate primary key exists in table" } };
  into.set(keyOf(item), item);
  return {};
};
