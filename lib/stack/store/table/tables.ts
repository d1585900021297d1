import type { CreateTableCommandInput, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { TableIds } from "../../../rules/model/records.ts";
import type { ClockDifference } from "./server-clock.ts";

/**
 * Everything outside the process that the room needs. A test or a simulation can hold each of them.
 */
export interface Tables {
  readonly client: Pick<DynamoDBClient, "send">;
  readonly stateTable: string;
  readonly historyTable: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Uniform in [0, 1), for the jitter of a repeated call. It is never stored. */
  readonly random: () => number;
  /**
   * A new token for each logical write. Only the repeats of that write share it. It is never stored
   * in the history.
   */
  readonly token: () => string;
  /** No call is repeated after this time of the own clock. */
  readonly untilMs?: number;
  /**
   * How far `clock` differs from the clock of the service now, by its last answer and every step
   * since. Absent where there is nothing to compare: a simulated cluster has a virtual clock. The
   * embedded tables answer with the clock of the machine, so a run on a real cluster compares with
   * the API server.
   */
  readonly serverClock?: () => ClockDifference | undefined;
  /**
   * Asks for a newer answer, where it is not the service of the tables whose clock counts. Where
   * none comes, the difference stays as it was.
   */
  readonly askServerClock?: () => Promise<void>;
  /**
   * Which tables these are (real-tables.ts). Absent where there is nothing that could be restored
   * without its clusters: the embedded run of a simulated cluster.
   */
  readonly ids?: () => Promise<FoundTables>;
}

/** What the service says of both tables. */
export interface FoundTables extends TableIds {
  /** Other regions that have a replica of the state table. Absent: none. */
  readonly replicas?: readonly string[];
}

const keyed = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
});

/**
 * Both tables have the same keys and no index (docs/storage.md). A test compares them with the
 * templates in infra/.
 */
export const tableDefinitions = (names: {
  readonly stateTable: string;
  readonly historyTable: string;
}): readonly CreateTableCommandInput[] => [keyed(names.stateTable), keyed(names.historyTable)];

/**
 * The attribute of the history table with seconds since 1970. Readers filter by it too, because a
 * deletion may be days late.
 */
export const TTL_ATTRIBUTE = "ttl";
