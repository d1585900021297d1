import type { CreateTableCommandInput, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { ClockDifference } from "./server-clock.ts";

/** Everything outside that the room needs, so that a test or a simulation can hold each of them. */
export interface Tables {
  readonly client: Pick<DynamoDBClient, "send">;
  readonly stateTable: string;
  readonly historyTable: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Uniform in [0, 1): the jitter of a repeated call. Never reaches a record. */
  readonly random: () => number;
  /** A new token per logical write; shared by the repeats of that write alone. Never reaches a record of history. */
  readonly token: () => string;
  /** Own clock after which no call is repeated. */
  readonly untilMs?: number;
  /**
   * How far `clock` differs from the clock of the service now, by its last answer and every step since. Absent where there is no other clock: the embedded run has a virtual clock, and its tables answer with
   * the machine's, which says nothing about it.
   */
  readonly serverClock?: () => ClockDifference | undefined;
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

/** Both tables have the same keys and no index (docs/storage.md). The templates in infra/ say the same, and a test compares them. */
export const tableDefinitions = (names: { readonly stateTable: string; readonly historyTable: string }): readonly CreateTableCommandInput[] => [
  keyed(names.stateTable),
  keyed(names.historyTable),
];

/** Attribute of the history table that holds seconds since 1970. Readers filter by it too: a deletion may be days late. */
export const TTL_ATTRIBUTE = "ttl";
