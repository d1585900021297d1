import type { countProblems } from "../stack/plan/count-problems.ts";
import type { MessageQueue } from "../stack/plan/send-messages.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import { tablesWithoutIds } from "../stack/store/table/real-tables.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { ENVIRONMENT } from "./environment.ts";
import { ownersIn } from "./owners.ts";
import { syncQueue } from "./sync-queue.ts";

export interface ScheduleDependencies {
  readonly tables: Tables;
  readonly queue: MessageQueue;
  readonly reporter: Pick<Reporter, "planned" | "problems" | "problemsNotCounted">;
  readonly owners?: Parameters<typeof countProblems>[0]["owners"];
  readonly people?: Parameters<typeof countProblems>[0]["people"];
}

/** What `schedule` is built of. */
export const planningParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.schedule)[number], string>>,
): ScheduleDependencies => ({
  tables: tablesWithoutIds({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: "" }),
  queue: syncQueue(names.TIDEMARK_SYNC_QUEUE_URL),
  reporter: powertoolsReporter(),
  ...ownersIn(names),
});
