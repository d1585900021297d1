import { type AttributeValue, BatchGetItemCommand, type BatchGetItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../model/ids.ts";
import { eachDone } from "../table/all-done.ts";
import { itemKey } from "../table/item-key.ts";
import { headKey } from "../table/keys.ts";
import { pause, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import type { Head } from "./head.ts";
import { troublesOf } from "./troubles.ts";

/** What the function that plans looks at. */
export type HeadGlance = Pick<Head, "nowMs" | "troubles">;

/** Most keys of one request (DynamoDB). */
const KEYS_MAX = 100;
const PARALLEL = 4;
const READ = "read the heads";

/** Eventually: half the price, and a minute later it is looked at again. */
export const readHeadsParams = (stateTable: string, refs: readonly PartitionRef[]): BatchGetItemCommandInput => ({
  RequestItems: { [stateTable]: { Keys: refs.map((ref) => itemKey(headKey(ref))), ProjectionExpression: "pk, nowMs, troubles" } },
});

/** The heads of many partitions by "CLUSTER/PARTITION"; absent before the first claim. Half a read unit each. Throws `store.unclear`. */
export const readHeads = async (tables: Tables, refs: readonly PartitionRef[]): Promise<ReadonlyMap<string, HeadGlance>> => {
  const groups = Array.from({ length: Math.ceil(refs.length / KEYS_MAX) }, (_, at) => refs.slice(at * KEYS_MAX, (at + 1) * KEYS_MAX));
  const items = (await eachDone(groups, PARALLEL, (group) => readGroup(tables, group))).flat();
  const byPk = new Map(items.map((item) => [item["pk"]?.S, item]));
  return new Map(
    refs.flatMap((ref) => {
      const item = byPk.get(headKey(ref).pk);
      return item ? [[`${ref.cluster}/${ref.partition}`, glanceOf(item)] as const] : [];
    }),
  );
};

const glanceOf = ({ nowMs, troubles }: Readonly<Record<string, AttributeValue>>): HeadGlance => ({
  nowMs: Number(nowMs?.N ?? 0),
  troubles: troublesOf(troubles?.S),
});

/** DynamoDB may answer a part of a batch: the rest is asked for again. */
const readGroup = async (tables: Tables, refs: readonly PartitionRef[]): Promise<readonly Record<string, AttributeValue>[]> => {
  const items: Record<string, AttributeValue>[] = [];
  let asked = readHeadsParams(tables.stateTable, refs).RequestItems;
  for (let attempt = 1; ; attempt++) {
    const RequestItems = asked;
    const { Responses, UnprocessedKeys } = await repeat(tables, READ, () => tables.client.send(new BatchGetItemCommand({ RequestItems })));
    items.push(...(Responses?.[tables.stateTable] ?? []));
    if (!UnprocessedKeys?.[tables.stateTable]) return items;
    asked = UnprocessedKeys;
    await pause(tables, READ, attempt, undefined);
  }
};
