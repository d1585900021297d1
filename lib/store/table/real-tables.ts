import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { boundedRequests } from "../../aws/bounded-requests.ts";
import { heardClock } from "./server-clock.ts";
import type { Tables } from "./tables.ts";

/** DynamoDB answers within milliseconds. A call that takes this long is lost, and its repeat still fits into the life of a sync. */
const CALL_LIMITS = { connectMs: 1_000, wholeMs: 2_000 } as const;

/** The tables of a function: region and credentials from its environment, the machine's clock, and how far that differs from the service's. */
export const realTables = (names: Pick<Tables, "stateTable" | "historyTable">): Tables => {
  const { heard, difference } = heardClock(Date.now, () => performance.now());
  return {
    // One attempt per call: repeat.ts repeats, because repeats must end with the sync.
    client: new DynamoDBClient({ maxAttempts: 1, requestHandler: boundedRequests(CALL_LIMITS, heard) }),
    ...names,
    clock: Date.now,
    serverClock: difference,
    wait,
    random: Math.random,
    token: randomUUID,
  };
};
