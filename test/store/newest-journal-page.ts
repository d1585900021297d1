import type { PartitionRef } from "../../lib/rules/model/ids.ts";
import { journalOfPage } from "../../lib/stack/store/history/journal.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { JournalPage } from "../../lib/rules/model/scale-records.ts";

/**
 * The newest journal page of one windows page; absent before the first sync and after all have
 * expired.
 */
export const newestJournalPage = async (
  tables: Tables,
  ref: PartitionRef,
  page: number,
  untilMs: number,
): Promise<JournalPage | undefined> => {
  for await (const found of journalOfPage(tables, ref, {
    page,
    sinceMs: 0,
    untilMs,
    newestFirst: true,
    pageSize: 1,
  }))
    return found;
  return undefined;
};
