import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { TABLE_NAMES } from "./names.ts";

/** What a run counts about its own work. */
export interface Tally {
  readonly syncs: number;
  readonly failed: number;
  /** To the state table. */
  readonly stateWrites: number;
  /** To history: scale events, each twice, and the journal. */
  readonly historyWrites: number;
  /** Wall time of each sync, ascending. */
  readonly wallMs: readonly number[];
}

export interface Counter {
  /** Counts the writes that this client sends. */
  readonly watch: (client: DynamoDBClient) => void;
  /** A sync begins. */
  readonly begin: () => void;
  /** It has ended. */
  readonly sync: (wallMs: number, failed: boolean) => void;
  readonly underWay: () => number;
  readonly tally: () => Tally;
}

const WRITES: ReadonlySet<string> = new Set(["PutItemCommand", "UpdateItemCommand", "DeleteItemCommand", "ExecuteStatementCommand"]);

export const runCounter = (): Counter => {
  const writes = { state: 0, history: 0 };
  let failures = 0;
  let underWay = 0;
  const wallMs: number[] = [];
  return {
    watch: (client) =>
      client.middlewareStack.add(
        (next, { commandName }) => {
          return (args) => {
            if (WRITES.has(commandName ?? "")) writes[tableOf(args.input) === TABLE_NAMES.historyTable ? "history" : "state"]++;
            return next(args);
          };
        },
        { step: "initialize", name: "countWrites" },
      ),
    begin: () => {
      underWay++;
    },
    underWay: () => underWay,
    sync: (took, failed) => {
      underWay--;
      wallMs.push(took);
      if (failed) failures++;
    },
    tally: () => ({
      syncs: wallMs.length,
      failed: failures,
      stateWrites: writes.state,
      historyWrites: writes.history,
      wallMs: wallMs.toSorted((a, b) => a - b),
    }),
  };
};

const tableOf = (input: object): unknown => Reflect.get(input, "TableName");

/** The value below which the given share of an ascending list lies, by nearest rank. */
export const quantile = (ascending: readonly number[], share: number): number | undefined =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)];
