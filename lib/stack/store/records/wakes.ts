import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { clusterName, namespace } from "../../../rules/model/ids.ts";
import { WAKE_LIMITS, type WakeRecord } from "../../../rules/model/wake.ts";
import { registeredWakeKey, WAKES_PK } from "../table/keys.ts";
import { itemsUnder, readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { recordIn, type RecordItem } from "./schemas.ts";
import {
  deleteRecord,
  isTombstone,
  lastCount,
  putRecord,
  type RecordWrite,
  readRecord,
} from "./write.ts";

/** A record as it is stored. Strict: a later version may limit a wake by a further field. */
const wakeSchema: z.ZodType<WakeRecord> = z.strictObject({
  name: z.string(),
  alarm: z.string(),
  cluster: z.string().transform(clusterName),
  namespace: z.string().transform(namespace).exactOptional(),
  names: z.array(z.string()).max(WAKE_LIMITS.names).exactOptional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
  version: z.number().int().positive(),
  updatedMs: z.number(),
  updatedBy: z.string(),
});

/** A registered wake as its item holds it, or why it cannot be read: then only it wakes nothing. */
export type WakeItem = RecordItem<WakeRecord, { name: string; version: number }>;

const itemOf = (item: Readonly<Record<string, AttributeValue>>): WakeItem =>
  recordIn(item, wakeSchema, {
    name: item["sk"]?.S ?? "",
    version: Number(item["version"]?.N ?? 0),
  });

/** Every registered wake in order of name. */
export async function* listWakes(tables: Tables): AsyncGenerator<WakeItem> {
  for await (const item of readAll(tables, "list the wakes", itemsUnder(tables, WAKES_PK)))
    if (!isTombstone(item)) yield itemOf(item);
}

/** Reads one registered wake strongly; absent when there is none. */
export const getWake = async (tables: Tables, name: string): Promise<WakeItem | undefined> => {
  const item = await readRecord(tables, `read wake "${name}"`, registeredWakeKey(name));
  return item && itemOf(item);
};

/** Stores a wake, if the stored one has the version `expected`; without it none may be stored. */
export const putWakeRecord = (
  tables: Tables,
  record: WakeRecord,
  expected: number | undefined,
): Promise<RecordWrite> =>
  putRecord(tables, `store wake "${record.name}"`, {
    key: registeredWakeKey(record.name),
    record,
    expected: { counter: "version", ...(expected !== undefined && { value: expected }) },
  });

export const deleteWakeRecord = (
  tables: Tables,
  name: string,
  expected: number,
): Promise<RecordWrite> =>
  deleteRecord(tables, `delete wake "${name}"`, {
    key: registeredWakeKey(name),
    expected: { counter: "version", value: expected },
  });

/** The last version of a wake of this name that was deleted within a day; 0 without one. */
export const lastWakeVersion = (tables: Tables, name: string): Promise<number> =>
  lastCount(tables, `read wake "${name}"`, registeredWakeKey(name), "version");
