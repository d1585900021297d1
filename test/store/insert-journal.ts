import type { PartitionRef } from "../../lib/model/ids.ts";
import type { JournalPage } from "../../lib/model/scale-records.ts";
import type { InsertHistory } from "../../lib/store/history/item.ts";
import { journalItem } from "../../lib/store/history/journal.ts";

/**
 * Inserts journal pages that are read by themselves. An existing page of the same key stays,
 * because it is of the same sync.
 */
export const insertJournal = async (
  insert: InsertHistory,
  ref: PartitionRef,
  pages: readonly JournalPage[],
): Promise<void> => {
  if (pages.length > 0) await insert(pages.map((page) => journalItem(ref, page)));
};
