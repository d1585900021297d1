import { randomUUID } from "node:crypto";
import type { ConnectEndpoint } from "../lib/answers/api/answer-request.ts";
import { IN_PROGRESS_MS } from "../lib/answers/api/idempotency.ts";
import type { Reporter } from "../lib/stack/report/reporter.ts";
import type { QueryContext, ServiceContext } from "../lib/answers/service/context.ts";
import { openByRights, openCommands } from "../lib/answers/service/open.ts";
import { insertByStatement, type InsertHistory } from "../lib/stack/store/history/item.ts";
import type { Tables } from "../lib/stack/store/table/tables.ts";
import { answeringParts } from "../lib/lambda/answering.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "../lib/lambda/function-url.ts";
import { plansNow, syncQueue } from "../lib/lambda/sync-queue.ts";

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
  } = dependencies;
  return functionUrlHandler({
    ...openByRights({ tables, clock, ...(count && { deadLetters: count }) }),
    editing: {
      for: (rights) =>
        openCommands({ tables, insert, clock, by: rights.caller, rights, newUid, ...edges }),
      idempotency: { tables, insert, inProgressMs: IN_PROGRESS_MS },
      connectEndpoint: connecting,
    },
    clock,
    log: reporter.line,
  });
};

/**
 * What `api` and `connect` are built of. `edges`: what their edits do outside the tables, beside
 * planning.
 */
export const editingParts = (
  names: Parameters<typeof answeringParts>[0] & { readonly TIDEMARK_SYNC_QUEUE_URL: string },
  edges?: Omit<NonNullable<ApiDependencies["edges"]>, "planNow">,
): Omit<ApiDependencies, "connecting"> => {
  const parts = answeringParts(names);
  const planNow = plansNow(syncQueue(names.TIDEMARK_SYNC_QUEUE_URL), parts.clock, parts.reporter);
  return {
    ...parts,
    insert: insertByStatement(parts.tables),
    newUid: randomUUID,
    edges: { ...edges, planNow },
  };
};

export const handler = builtByFirst(() => {
  const names = environmentOf(ENVIRONMENT.api);
  return apiHandler({
    ...editingParts(names),
    connecting: { kind: "elsewhere", url: names.TIDEMARK_CONNECT_URL },
  });
});
