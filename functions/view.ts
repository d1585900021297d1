import { openByRights } from "../lib/answers/service/open.ts";
import { answeringParts } from "../lib/lambda/answering.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "../lib/lambda/function-url.ts";
import type { ApiDependencies } from "../lib/lambda/editing.ts";

export type ViewDependencies = Pick<
  ApiDependencies,
  "tables" | "clock" | "reporter" | "deadLetters" | "calledBy"
>;

/** Handles queries only. It has no code and no right to write. */
export const viewHandler = ({
  tables,
  clock,
  reporter,
  deadLetters: count,
  calledBy,
}: ViewDependencies): FunctionUrlHandler => {
  const context = {
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    clock,
    log: reporter.line,
  };
  return functionUrlHandler(context, calledBy);
};

export const handler = builtByFirst(() =>
  viewHandler(answeringParts(environmentOf(ENVIRONMENT.view))),
);
