import { powertoolsTeller } from "../lib/report/teller.ts";
import { openQueries } from "../lib/service/open.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import type { ApiDependencies } from "./api.ts";
import { ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";

export type ViewDependencies = Pick<ApiDependencies, "tables" | "clock" | "teller">;

/** Answers people who may look: the same routes, with nothing in it that could write. */
export const viewHandler = ({ tables, clock, teller }: ViewDependencies): FunctionUrlHandler =>
  functionUrlHandler({ reading: openQueries({ tables, clock }), clock, tell: teller.line });

const fromEnvironment = (): ViewDependencies => {
  const names = environmentOf(ENVIRONMENT.view);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  return { tables, clock: Date.now, teller: powertoolsTeller() };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. Built by its first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= viewHandler(fromEnvironment());
  return built(event);
};
