import { powertoolsReporter } from "../lib/report/reporter.ts";
import { openByRights } from "../lib/service/open.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import type { ApiDependencies } from "./api.ts";
import { deadLetters } from "./dead-letters.ts";
import { deadLetterQueues, ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";

export type ViewDependencies = Pick<ApiDependencies, "tables" | "clock" | "reporter" | "deadLetters">;

/** Handles queries only. It has no code and no right to write. */
export const viewHandler = ({ tables, clock, reporter, deadLetters: count }: ViewDependencies): FunctionUrlHandler =>
  functionUrlHandler({
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    clock,
    log: reporter.line,
  });

const fromEnvironment = (): ViewDependencies => {
  const names = environmentOf(ENVIRONMENT.view);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const reporter = powertoolsReporter();
  return { tables, clock: Date.now, reporter, deadLetters: deadLetters(deadLetterQueues(names), reporter) };
};

let built: FunctionUrlHandler | undefined;

/** The entry of the function. It is built by the first event, so that importing this module needs no environment. */
export const handler: FunctionUrlHandler = (event) => {
  built ??= viewHandler(fromEnvironment());
  return built(event);
};
