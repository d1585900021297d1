import { powertoolsReporter, type Reporter } from "../lib/report/reporter.ts";
import type { QueryContext } from "../lib/service/context.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import type { Tables } from "../lib/store/table/tables.ts";
import { deadLetters } from "./dead-letters.ts";
import type { ENVIRONMENT } from "./environment.ts";

interface Answering {
  readonly tables: Tables;
  readonly clock: () => number;
  readonly reporter: Pick<Reporter, "line">;
  readonly deadLetters: NonNullable<QueryContext["deadLetters"]>;
}

/** What the three functions that answer people are built of. */
export const answeringParts = (names: Readonly<Record<(typeof ENVIRONMENT.view)[number], string>>): Answering => {
  const reporter = powertoolsReporter();
  const queues = { syncs: names.TIDEMARK_SYNC_DEAD_LETTERS_URL, plans: names.TIDEMARK_TICK_DEAD_LETTERS_URL };
  return {
    tables: realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE }),
    clock: Date.now,
    reporter,
    deadLetters: deadLetters(queues, reporter),
  };
};
