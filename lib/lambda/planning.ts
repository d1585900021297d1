import type { countProblems } from "../stack/plan/count-problems.ts";
import type { MessageQueue } from "../stack/plan/send-messages.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import { realTables, tablesWithoutIds } from "../stack/store/table/real-tables.ts";
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
  /** The state table of another region that has a replica of it. */
  readonly elsewhere?: (region: string) => Tables;
}

/** A region that does not answer by then says nothing. The call lives for 30 s. */
const OTHER_REGION_MS = 6_000;

const stateOnly = ({
  TIDEMARK_STATE_TABLE: stateTable,
}: {
  readonly TIDEMARK_STATE_TABLE: string;
}) => ({ stateTable, historyTable: "" });

/** What `schedule` is built of. */
export const planningParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.schedule)[number], string>>,
): ScheduleDependencies => ({
  tables: realTables(stateOnly(names)),
  elsewhere: (region) => ({
    ...tablesWithoutIds(stateOnly(names), region),
    untilMs: Date.now() + OTHER_REGION_MS,
  }),
  queue: syncQueue(names.TIDEMARK_SYNC_QUEUE_URL),
  reporter: powertoolsReporter(),
  ...ownersIn(names),
});
