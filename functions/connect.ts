import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

import { powertoolsReporter } from "../lib/report/reporter.ts";
import { insertByStatement } from "../lib/store/history/item.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import { type ApiDependencies, apiHandler } from "./api.ts";
import { checkBySync, checkSourceBySync } from "./check-by-sync.ts";
import { deadLetters } from "./dead-letters.ts";
import { deadLetterQueues, ENVIRONMENT, environmentOf } from "./environment.ts";
import type { FunctionUrlHandler } from "./function-url.ts";
import { plansNow, syncQueue } from "./sync-queue.ts";

/** Like `api`, and it also connects clusters. It is the only function that takes a cluster's connection from a request, and it has `sync` look at the cluster before. */
const fromEnvironment = (): ApiDependencies => {
  const names = environmentOf(ENVIRONMENT.connect);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const reporter = powertoolsReporter();
  const planNow = plansNow(syncQueue(names.TIDEMARK_SYNC_QUEUE_URL), Date.now, reporter);
  const parts = { tables, insert: insertByStatement(tables), clock: Date.now, newUid: randomUUID, reporter };
  // This client sends nothing. It has the credentials and the region that the SDK finds, and renews the former.
  const { credentials, region } = new DynamoDBClient().config;
  const sync = { functionName: names.TIDEMARK_SYNC_FUNCTION, credentials, region, clock: Date.now };
  const edges = { checkConnection: checkBySync(sync), checkSource: checkSourceBySync(sync), planNow };
  return { ...parts, connecting: { kind: "here" }, edges, deadLetters: deadLetters(deadLetterQueues(names), reporter) };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. It is built by the first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= apiHandler(fromEnvironment());
  return built(event);
};
