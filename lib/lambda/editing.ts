import type { Tables } from "../stack/store/table/tables.ts";
import { type InsertHistory, insertByStatement } from "../stack/store/history/item.ts";
import type { Reporter } from "../stack/report/reporter.ts";
import type { ConnectEndpoint } from "../answers/api/answer-request.ts";
import type { QueryContext, ServiceContext } from "../answers/service/context.ts";
import { answeringParts } from "./answering.ts";
import type { CalledBy } from "./function-url.ts";
import { plansNow, syncQueue } from "./sync-queue.ts";
import { wakerOf } from "../stack/plan/wake.ts";
import { randomUUID } from "node:crypto";

export interface ApiDependencies {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  readonly newUid: () => string;
  readonly reporter: Pick<Reporter, "line">;
  readonly connecting: ConnectEndpoint;
  readonly calledBy?: CalledBy;
  readonly deadLetters?: NonNullable<QueryContext["deadLetters"]>;
  /** What edits do outside the tables. */
  readonly edges?: Pick<
    ServiceContext,
    "checkConnection" | "checkSource" | "planNow" | "wake" | "witness"
  >;
}

/**
 * What `api` and `connect` are built of. `edges`: what their edits do outside the tables, beside
 * planning and waking.
 */
export const editingParts = (
  names: Parameters<typeof answeringParts>[0] & { readonly TIDEMARK_SYNC_QUEUE_URL: string },
  edges?: Omit<NonNullable<ApiDependencies["edges"]>, "planNow" | "wake">,
): Omit<ApiDependencies, "connecting"> => {
  const parts = answeringParts(names);
  const queue = syncQueue(names.TIDEMARK_SYNC_QUEUE_URL);
  const planNow = plansNow(queue, parts.tables, parts.reporter);
  return {
    ...parts,
    insert: insertByStatement(parts.tables),
    newUid: randomUUID,
    edges: { ...edges, planNow, wake: wakerOf({ tables: parts.tables, queue }) },
  };
};
