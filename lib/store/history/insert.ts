import { BatchExecuteStatementCommand, type BatchExecuteStatementCommandInput, type BatchStatementError } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import { backOff, isTransientCode, repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { type HistoryItem, type Inserted, type InsertHistory, bodyAttribute, readStored } from "./item.ts";

/** Most statements of one BatchExecuteStatement (limit of DynamoDB). */
export const STATEMENTS_MAX = 25;
/** Batches of one call that are under way together. */
const PARALLEL = 4;

/** DynamoDB answers DuplicateItem in a batch, other engines DuplicateItemException. */
const DUPLICATES = new Set(["DuplicateItem", "DuplicateItemException"]);

/*
 *  A  INSERT event uid:5 "applied" ✓ ── (died)
 *  B                      INSERT event uid:5 "unknown" ✗     the statement itself refuses an existing key; its right allows no overwriting
 */
export const insertHistoryParams = (historyTable: string, items: readonly HistoryItem[]): BatchExecuteStatementCommandInput => ({
  Statements: items.map((item) => ({
    Statement: `INSERT INTO "${historyTable}" VALUE {'pk': ?, 'sk': ?, 'ttl': ?, 'body': ?}`,
    Parameters: [{ S: item.pk }, { S: item.sk }, { N: String(item.ttlSeconds) }, bodyAttribute(item.body)],
  })),
});

/** Appends by PartiQL INSERT, whose right (`dynamodb:PartiQLInsert`) cannot overwrite. Only throttled statements are sent again. */
export const insertByStatement = (tables: Tables): InsertHistory => {
  const insertSome = async (items: readonly HistoryItem[]): Promise<readonly Inserted[]> => {
    const outcomes = new Map<HistoryItem, Inserted>();
    for (let attempt = 1; outcomes.size < items.length; attempt++) {
      const left = items.filter((item) => !outcomes.has(item));
      const errors = await sendStatements(tables, left);
      for (const [at, item] of left.entries()) {
        const outcome = await outcomeOf(tables, item, errors[at]);
        if (outcome) outcomes.set(item, outcome);
      }
      if (outcomes.size < items.length) await backOff(tables, "insert into history", attempt, errors.find(Boolean));
    }
    return items.map((item) => outcomes.get(item) ?? { kind: "inserted" });
  };
  return async (items) => {
    const batches = Array.from({ length: Math.ceil(items.length / STATEMENTS_MAX) }, (_, at) =>
      items.slice(at * STATEMENTS_MAX, (at + 1) * STATEMENTS_MAX),
    );
    return (await mapWithLimit(batches, PARALLEL, insertSome)).flat();
  };
};

const sendStatements = async (tables: Tables, items: readonly HistoryItem[]): Promise<readonly (BatchStatementError | undefined)[]> => {
  const { Responses } = await repeat(tables, "insert into history", () =>
    tables.client.send(new BatchExecuteStatementCommand(insertHistoryParams(tables.historyTable, items))),
  );
  // An answer without an entry for each statement proves nothing about any of them, so that it is an error and never "inserted".
  if (Responses?.length !== items.length) throw new TypeError(`${items.length} statements were answered by ${Responses?.length ?? 0} responses`);
  return Responses.map((response) => response.Error);
};

/** The outcome of one statement. `undefined` means that it was not executed and must be sent again. */
const outcomeOf = async (tables: Tables, item: HistoryItem, error: BatchStatementError | undefined): Promise<Inserted | undefined> => {
  if (!error) return { kind: "inserted" };
  if (DUPLICATES.has(error.Code ?? "")) return { kind: "duplicate", stored: await readStored(tables, item) };
  if (isTransientCode(error.Code)) return undefined;
  throw new TidemarkError("store.insert-refused", `Cannot insert the history item "${item.sk}": ${error.Code}: ${error.Message}`, {
    key: item.sk,
    code: error.Code,
  });
};
