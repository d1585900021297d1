import { randomUUID } from "node:crypto";
import type { ApiDesk } from "../lib/api/api.ts";
import { LEDGER_LIFE_MS } from "../lib/api/once.ts";
import { powertoolsTeller, type Teller } from "../lib/report/teller.ts";
import { openEditing, openReading } from "../lib/service/open.ts";
import { insertByStatement } from "../lib/store/history-insert.ts";
import type { InsertHistory } from "../lib/store/history-port.ts";
import { realTables } from "../lib/store/real-tables.ts";
import type { Tables } from "../lib/store/tables.ts";
import { ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";

export interface ApiDependencies {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  readonly newUid: () => string;
  readonly teller: Pick<Teller, "line">;
}

/** Answers people who may edit: everything that the service can do, each edit in the name of its verified caller. */
export const apiHandler = ({ tables, insert, clock, newUid, teller }: ApiDependencies): FunctionUrlHandler => {
  const desk: ApiDesk = {
    reading: openReading({ tables, clock }),
    editing: { for: (by) => openEditing({ tables, insert, clock, by, newUid }), ledger: { tables, insert, lifeMs: LEDGER_LIFE_MS } },
    clock,
    tell: teller.line,
  };
  return functionUrlHandler(desk);
};

const fromEnvironment = (): ApiDependencies => {
  const names = environmentOf(ENVIRONMENT.api);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  return { tables, insert: insertByStatement(tables), clock: Date.now, newUid: randomUUID, teller: powertoolsTeller() };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. Built by its first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= apiHandler(fromEnvironment());
  return built(event);
};
