import { randomUUID } from "node:crypto";
import { connectionCheck } from "../lib/cluster/check-connection.ts";
import { powertoolsTeller } from "../lib/report/teller.ts";
import { insertByStatement } from "../lib/store/history/insert.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import { type ApiDependencies, apiHandler } from "./api.ts";
import { ENVIRONMENT, environmentOf } from "./environment.ts";
import type { FunctionUrlHandler } from "./function-url.ts";
import { plansNow, syncQueue } from "./sync-queue.ts";

/** As `api`, and clusters can be connected: the one function that takes the connection of a cluster from people, and asks AWS whether it is true. */
const fromEnvironment = (): ApiDependencies => {
  const names = environmentOf(ENVIRONMENT.connect);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const teller = powertoolsTeller();
  const planNow = plansNow(syncQueue(names.TIDEMARK_SYNC_QUEUE_URL), Date.now, teller);
  const parts = { tables, insert: insertByStatement(tables), clock: Date.now, newUid: randomUUID, teller };
  return { ...parts, connecting: { kind: "here" }, edges: { checkConnection: connectionCheck(Date.now), planNow } };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. Built by its first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= apiHandler(fromEnvironment());
  return built(event);
};
