import type { countProblems } from "../stack/plan/count-problems.ts";
import type { MessageQueue } from "../stack/plan/send-messages.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import type { Witness } from "../stack/store/records/fleet-leases.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { ENVIRONMENT } from "./environment.ts";
import { ownersIn } from "./owners.ts";
import { syncQueue } from "./sync-queue.ts";
import { tablesElsewhere, witnessIn } from "./witness.ts";

export interface ScheduleDependencies {
  readonly tables: Tables;
  readonly queue: MessageQueue;
  readonly reporter: Pick<Reporter, "planned" | "problems" | "problemsNotCounted">;
  readonly owners?: Parameters<typeof countProblems>[0]["owners"];
  readonly people?: Parameters<typeof countProblems>[0]["people"];
  /** The state table of another region that has a replica of it. */
  readonly elsewhere?: (region: string) => Tables;
  /** Where the stack keeps leases of the fleet; made for each call, which ends at its time. */
  readonly witness?: () => Witness | undefined;
}

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
  elsewhere: tablesElsewhere(names.TIDEMARK_STATE_TABLE),
  witness: witnessIn(names),
  queue: syncQueue(names.TIDEMARK_SYNC_QUEUE_URL),
  reporter: powertoolsReporter(),
  ...ownersIn(names),
});
