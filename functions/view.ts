import { openByRights } from "../lib/service/open.ts";
import { answeringParts } from "./answering.ts";
import type { ApiDependencies } from "./api.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";

export type ViewDependencies = Pick<
  ApiDependencies,
  "tables" | "clock" | "reporter" | "deadLetters"
>;

/** Handles queries only. It has no code and no right to write. */
export const viewHandler = ({
  tables,
  clock,
  reporter,
  deadLetters: count,
}: ViewDependencies): FunctionUrlHandler =>
  functionUrlHandler({
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    clock,
    log: reporter.line,
  });

export const handler = builtByFirst(() =>
  viewHandler(answeringParts(environmentOf(ENVIRONMENT.view))),
);
