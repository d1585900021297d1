import { powertoolsReporter } from "../stack/report/reporter.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import { deadLetters } from "./dead-letters.ts";
import type { ENVIRONMENT } from "./environment.ts";

/** What the three functions that answer people are built of. */
export const answeringParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.view)[number], string>>,
) => {
  const reporter = powertoolsReporter();
  const queues = {
    syncs: names.TIDEMARK_SYNC_DEAD_LETTERS_URL,
    plans: names.TIDEMARK_TICK_DEAD_LETTERS_URL,
  };
  return {
    tables: realTables({
      stateTable: names.TIDEMARK_STATE_TABLE,
      historyTable: names.TIDEMARK_HISTORY_TABLE,
    }),
    clock: Date.now,
    reporter,
    deadLetters: deadLetters(queues, reporter),
    // On doubt, URLs: then an event without an identity that Lambda verified is refused.
    calledBy: names.TIDEMARK_CALLED_BY === "invoke" ? ("invoke" as const) : ("url" as const),
  };
};
