import type { PartitionRef } from "../../lib/rules/model/ids.ts";
import type { JournalPage } from "../../lib/rules/model/scale-records.ts";
import type { InsertHistory } from "../../lib/stack/store/history/item.ts";
import { journalItem } from "../../lib/stack/store/history/journal.ts";

/**
 * Inserts journal pages that are read by themselves. An existing page of the same key stays,
 * because it is of the same sync.
 */
export const insertJournal = async (
  insert: InsertHistory,
  ref: PartitionRef,
  pages: readonly (Omit<JournalPage, "previousMs"> & Partial<JournalPage>)[],
): Promise<void> => {
  if (pages.length > 0)
    await insert(pages.map((page) => journalItem(ref, { previousMs: page.atMs, ...page })));
};
