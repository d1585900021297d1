import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import type { TableIds } from "../../model/records.ts";
import { repeat } from "./repeat.ts";
import type { Tables } from "./tables.ts";

/**
 * For so long an answer counts. Another table may take a name only when the table before it is deleted, and a restore takes minutes, so that no environment works on a new table with the ids of
 * the old one. Each environment asks once in this time: DescribeTable costs nothing, but AWS limits its rate.
 */
const IDS_FRESH_MS = 60_000;

/** The tables with their ids, which the service gives to each table and never gives again. A restore, and a copy, have other ids. */
export const withIds = (tables: Tables): Tables => {
  let known: { readonly ids: Promise<TableIds>; readonly atMs: number } | undefined;
  const ids = (): Promise<TableIds> => {
    const nowMs = tables.clock();
    if (known && Math.abs(nowMs - known.atMs) < IDS_FRESH_MS) return known.ids;
    const asked = { ids: askIds(tables), atMs: nowMs };
    known = asked;
    asked.ids.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.ids;
  };
  return { ...tables, ids };
};

const askIds = async (tables: Tables): Promise<TableIds> => {
  const [state, history] = await Promise.all([tables.stateTable, tables.historyTable].map((name) => askId(tables, name)));
  if (state === undefined || history === undefined) throw new TypeError("two tables have two ids");
  return { state, history };
};

/** On doubt, do nothing: a table without an id may be any table. */
const askId = async (tables: Tables, name: string): Promise<string> => {
  const { Table } = await repeat(tables, `describe table "${name}"`, () => tables.client.send(new DescribeTableCommand({ TableName: name })));
  if (Table?.TableId) return Table.TableId;
  throw new TidemarkError("store.unreadable", `Cannot read the id of table "${name}": the answer has none`, { table: name });
};

/**
 * True where the tables are others than those that the fleet record was written for: they were restored, or are a copy. Before the first cluster the record names no tables, and nothing can be
 * scaled.
 */
export const areRestored = (recorded: TableIds | undefined, found: TableIds | undefined): boolean =>
  recorded !== undefined && found !== undefined && (recorded.state !== found.state || recorded.history !== found.history);
