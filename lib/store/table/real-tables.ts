import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { boundedRequests } from "../../aws/bounded-requests.ts";
import { withoutLogger } from "../../aws/without-logger.ts";
import { serverClockOf } from "./server-clock.ts";
import { withIds } from "./table-ids.ts";
import type { Tables } from "./tables.ts";
import { REQUESTS_AT_ONCE } from "./wait-for-all.ts";

/** DynamoDB answers within milliseconds. A call that takes this long counts as lost, and its repeat still fits into the life of a sync. */
const CALL_LIMITS = { connectMs: 1_000, wholeMs: 2_000 } as const;

/** The tables of a function, with region and credentials of its environment, the clock of the machine, its difference from the clock of DynamoDB, and their ids. */
export const realTables = (names: Pick<Tables, "stateTable" | "historyTable">): Tables => withIds(tablesWithoutIds(names));

/** The same for a function that scales nothing and need not know which tables these are. */
export const tablesWithoutIds = (names: Pick<Tables, "stateTable" | "historyTable">): Tables => {
  const { onAnswer, difference } = serverClockOf(Date.now, () => performance.now());
  return {
    // The SDK makes one attempt for each call. repeat.ts repeats, because repeats must end with the sync.
    client: withoutLogger(
      new DynamoDBClient({ maxAttempts: 1, requestHandler: boundedRequests(CALL_LIMITS, onAnswer, { sockets: REQUESTS_AT_ONCE }) }),
    ),
    ...names,
    clock: Date.now,
    serverClock: difference,
    wait,
    random: Math.random,
    token: randomUUID,
  };
};
