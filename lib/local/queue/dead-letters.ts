import { DEAD_LETTERS } from "../run/names.ts";
import { readQueueJournal } from "./journal.ts";

/** Messages in the dead-letter queue of a data folder, also while a run writes its journal. Throws `local.queue-unreadable`. */
export const deadLettersIn = (journal: string): number =>
  [...readQueueJournal(journal).values()].filter(({ queue }) => queue === DEAD_LETTERS).length;
