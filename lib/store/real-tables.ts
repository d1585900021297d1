import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Tables } from "./tables.ts";

/** One attempt per call, with a short life: repeating is ours (repeat.ts), because it must end with the sync. */
const CLIENT = { maxAttempts: 1, requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000 } } as const;

/** The tables of a function: region and credentials from its environment, the machine's clock. */
export const realTables = (names: Pick<Tables, "stateTable" | "historyTable">): Tables => ({
  client: new DynamoDBClient(CLIENT),
  ...names,
  clock: Date.now,
  wait,
  random: Math.random,
  token: randomUUID,
});
