import { PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { compress, decompress } from "../table/compressed.ts";
import { itemKey, toldProblemsKey } from "../table/keys.ts";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readRecord } from "./write.ts";

/** What people were told of, by kind: how many at each place, and when the last time. */
export type ToldItem = Readonly<Record<string, { readonly toldMs: number; readonly counts: Readonly<Record<string, number>> }>>;

const VERSION = 1;
const stored = z.record(z.string(), z.object({ toldMs: z.number(), counts: z.record(z.string(), z.number()) }));

/** Empty before the first problem. An item that cannot be read counts as empty: what goes on is reported once more. */
export const readTold = async (tables: Tables): Promise<ToldItem> => {
  const body = (await readRecord(tables, "read the problems that were told", toldProblemsKey))?.["body"]?.B;
  return body ? toldOf(body) : {};
};

const toldOf = (body: Uint8Array): ToldItem => {
  try {
    return stored.parse(decompress(body).value);
  } catch {
    // As before the first problem.
    return {};
  }
};

/** No condition: where two calls run at once, a problem is reported twice or remembered twice. */
export const storeToldParams = (stateTable: string, told: ToldItem): PutItemCommandInput => ({
  TableName: stateTable,
  Item: { ...itemKey(toldProblemsKey), body: { B: compress(VERSION, told) } },
});

export const storeTold = async (tables: Tables, told: ToldItem): Promise<void> => {
  await repeat(tables, "store the problems that were told", () => tables.client.send(new PutItemCommand(storeToldParams(tables.stateTable, told))));
};
