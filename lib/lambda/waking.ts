import { servesWakes, type ServeWakes } from "./serve-wakes.ts";
import { wakerOf } from "../stack/plan/wake.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import type { ENVIRONMENT } from "./environment.ts";
import { syncQueue } from "./sync-queue.ts";

export interface WakeDependencies {
  readonly serve: ServeWakes;
  readonly reporter: Pick<Reporter, "line">;
}

/** What `wake` is built of. */
export const wakingParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.wake)[number], string>>,
): WakeDependencies => {
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: "" });
  const queue = syncQueue(names.TIDEMARK_SYNC_QUEUE_URL);
  return { serve: servesWakes(tables, wakerOf({ tables, queue })), reporter: powertoolsReporter() };
};
