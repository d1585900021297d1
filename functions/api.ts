import { randomUUID } from "node:crypto";
import type { ApiContext, ConnectEndpoint } from "../lib/api/answer-request.ts";
import { IN_PROGRESS_MS } from "../lib/api/idempotency.ts";
import { powertoolsTeller, type Teller } from "../lib/report/teller.ts";
import type { ServiceContext } from "../lib/service/context.ts";
import { openCommands, openQueries } from "../lib/service/open.ts";
import { insertByStatement } from "../lib/store/history/insert.ts";
import type { InsertHistory } from "../lib/store/history/port.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import type { Tables } from "../lib/store/table/tables.ts";
import { ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";
import { plansNow, syncQueue } from "./sync-queue.ts";

export interface ApiDependencies {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  readonly newUid: () => string;
  readonly teller: Pick<Teller, "line">;
  readonly connecting: ConnectEndpoint;
  /** What an edit does outside the tables. */
  readonly edges?: Pick<ServiceContext, "checkConnection" | "planNow">;
}

/** Answers people who may edit, each edit in the name of its verified caller. Whether clusters can be connected, too, says `connecting`. */
export const apiHandler = ({ tables, insert, clock, newUid, teller, connecting, edges }: ApiDependencies): FunctionUrlHandler => {
  const context: ApiContext = {
    reading: openQueries({ tables, clock }),
    editing: {
      for: (by) => openCommands({ tables, insert, clock, by, newUid, ...edges }),
      idempotency: { tables, insert, inProgressMs: IN_PROGRESS_MS },
      connectEndpoint: connecting,
    },
    clock,
    tell: teller.line,
  };
  return functionUrlHandler(context);
};

const fromEnvironment = (): ApiDependencies => {
  const names = environmentOf(ENVIRONMENT.api);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const connecting = { kind: "elsewhere", url: names.TIDEMARK_CONNECT_URL } as const;
  const teller = powertoolsTeller();
  const edges = { planNow: plansNow(syncQueue(names.TIDEMARK_SYNC_QUEUE_URL), Date.now, teller) };
  return { tables, insert: insertByStatement(tables), clock: Date.now, newUid: randomUUID, teller, connecting, edges };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. Built by its first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= apiHandler(fromEnvironment());
  return built(event);
};
