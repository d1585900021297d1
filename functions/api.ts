import { randomUUID } from "node:crypto";
import type { ConnectEndpoint } from "../lib/api/answer-request.ts";
import { IN_PROGRESS_MS } from "../lib/api/idempotency.ts";
import { powertoolsReporter, type Reporter } from "../lib/report/reporter.ts";
import type { QueryContext, ServiceContext } from "../lib/service/context.ts";
import { openByRights, openCommands } from "../lib/service/open.ts";
import { insertByStatement, type InsertHistory } from "../lib/store/history/item.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import type { Tables } from "../lib/store/table/tables.ts";
import { deadLetters } from "./dead-letters.ts";
import { deadLetterQueues, ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";
import { plansNow, syncQueue } from "./sync-queue.ts";

export interface ApiDependencies {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  readonly newUid: () => string;
  readonly reporter: Pick<Reporter, "line">;
  readonly connecting: ConnectEndpoint;
  readonly deadLetters?: NonNullable<QueryContext["deadLetters"]>;
  /** What edits do outside the tables. */
  readonly edges?: Pick<ServiceContext, "checkConnection" | "checkSource" | "planNow">;
}

/** Handles edits and queries, each for its verified caller. `connectEndpoint` says whether this function also connects clusters. */
export const apiHandler = (dependencies: ApiDependencies): FunctionUrlHandler => {
  const { tables, insert, clock, newUid, reporter, connecting, deadLetters: count, edges } = dependencies;
  return functionUrlHandler({
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    editing: {
      for: (rights) => openCommands({ tables, insert, clock, by: rights.caller, rights, newUid, ...edges }),
      idempotency: { tables, insert, inProgressMs: IN_PROGRESS_MS },
      connectEndpoint: connecting,
    },
    clock,
    log: reporter.line,
  });
};

const fromEnvironment = (): ApiDependencies => {
  const names = environmentOf(ENVIRONMENT.api);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const connecting = { kind: "elsewhere", url: names.TIDEMARK_CONNECT_URL } as const;
  const reporter = powertoolsReporter();
  const edges = { planNow: plansNow(syncQueue(names.TIDEMARK_SYNC_QUEUE_URL), Date.now, reporter) };
  const parts = { tables, insert: insertByStatement(tables), clock: Date.now, newUid: randomUUID, reporter };
  return { ...parts, connecting, edges, deadLetters: deadLetters(deadLetterQueues(names), reporter) };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. It is built by the first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= apiHandler(fromEnvironment());
  return built(event);
};
