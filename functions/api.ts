import { IN_PROGRESS_MS } from "../lib/answers/api/idempotency.ts";
import { openByRights, openCommands } from "../lib/answers/service/open.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import type { ApiContext } from "../lib/answers/api/answer-request.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "../lib/lambda/function-url.ts";
import { type ApiDependencies, editingParts } from "../lib/lambda/editing.ts";

/**
 * Handles edits and queries, each for its verified caller. `connectEndpoint` says whether this
 * function also connects clusters.
 */
export const apiHandler = (dependencies: ApiDependencies): FunctionUrlHandler => {
  const {
    tables,
    insert,
    clock,
    newUid,
    reporter,
    connecting,
    deadLetters: count,
    edges,
    calledBy,
  } = dependencies;
  const context: ApiContext = {
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    editing: {
      for: (rights) =>
        openCommands({ tables, insert, clock, by: rights.caller, rights, newUid, ...edges }),
      idempotency: { tables, insert, inProgressMs: IN_PROGRESS_MS },
      connectEndpoint: connecting,
    },
    clock,
    log: reporter.line,
  };
  return functionUrlHandler(context, calledBy);
};

export const handler = builtByFirst(() => {
  const names = environmentOf(ENVIRONMENT.api);
  return apiHandler({
    ...editingParts(names),
    connecting: { kind: "elsewhere", url: names.TIDEMARK_CONNECT_URL },
  });
});
