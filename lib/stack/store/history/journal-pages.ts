import type { PartitionRef } from "../../../rules/model/ids.ts";
import { journalPagePrefix, journalPk, sortableMs } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { historyItemOf, itemsBetween, LAST } from "./item.ts";

interface Entry {
  readonly page: number;
  readonly atMs: number;
}

/** The first entry of a page since an instant; where it has none, the first one of a later page. */
const entryFrom = async (
  tables: Tables,
  partition: PartitionRef,
  { page, atMs }: Entry,
): Promise<Entry | undefined> => {
  const since = `${journalPagePrefix(page)}${sortableMs(atMs)}`;
  const params = {
    ...itemsBetween(tables.historyTable, journalPk(partition), [since, LAST]),
    Limit: 1,
  };
  const action = `look into the journal of "${partition.cluster}/${partition.partition}"`;
  for await (const found of readAll(tables, action, params)) {
    const [of, ms] = historyItemOf(found).sk.split("#");
    return { page: Number(of), atMs: Number(ms) };
  }
  return undefined;
};

/**
 * The first instant from one on at which a partition wrote its journal. Every minute of syncs has
 * the first page, whatever the number of pages.
 */
export const firstJournaledMs = async (
  tables: Tables,
  partition: PartitionRef,
  sinceMs: number,
): Promise<number | undefined> => {
  const entry = await entryFrom(tables, partition, { page: 0, atMs: Math.max(0, sinceMs) });
  return entry?.page === 0 ? entry.atMs : undefined;
};

/**
 * The journal pages that have an entry in a stretch, also those that the partition had while it was
 * larger. Two requests of one item for each page.
 */
export const journalPagesIn = async (
  tables: Tables,
  partition: PartitionRef,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly number[]> => {
  const pages: number[] = [];
  for (let page = 0; ; ) {
    const entry = await entryFrom(tables, partition, { page, atMs: sinceMs });
    if (!entry) return pages;
    if (entry.page === page && entry.atMs <= untilMs) pages.push(page);
    page = entry.page === page ? page + 1 : entry.page;
  }
};
