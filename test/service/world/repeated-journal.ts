import type { PartitionRef } from "../../../lib/rules/model/ids.ts";
import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { insertEvents, type Stretch } from "../../../lib/stack/store/history/events.ts";
import { eventsOfFleet } from "../../../lib/stack/store/history/fleet-events.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import {
  basesAfter,
  type JournalBases,
  journalItem,
  journalOfPage,
} from "../../../lib/stack/store/history/journal.ts";
import { journalPagesIn } from "../../../lib/stack/store/history/journal-pages.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";

/**
 * Stores the facts of a stretch so many times more, each time as much later as the stretch is long.
 * The pages go through the codec of a sync, so that each of them has the bytes that a sync of that
 * minute would have written. A played minute takes ten times as long.
 */
export const repeatFacts = async (
  tables: Tables,
  partition: PartitionRef,
  stretch: Stretch,
  times: number,
): Promise<void> => {
  const insert = insertByStatement(tables);
  const lengthMs = stretch.untilMs + 1 - stretch.sinceMs;
  if (lengthMs % MINUTE_MS !== 0)
    throw new RangeError(`Cannot repeat ${lengthMs} ms: give whole minutes`);
  const later = Array.from({ length: times }, (_, at) => (at + 1) * lengthMs);
  const events = await Array.fromAsync(eventsOfFleet(tables, [partition.cluster], stretch));
  for (const byMs of later)
    await insertEvents(
      insert,
      events.map((event) => ({
        ...event,
        atMs: event.atMs + byMs,
        ...("settledMs" in event && { settledMs: event.settledMs + byMs }),
      })),
    );
  for (const page of await journalPagesIn(tables, partition, stretch)) {
    const written = await Array.fromAsync(journalOfPage(tables, partition, { page, ...stretch }));
    let bases: JournalBases = new Map();
    for (const byMs of later)
      for (const one of written) {
        const moved = {
          ...one,
          atMs: one.atMs + byMs,
          previousMs: one.previousMs + byMs,
        };
        const item = journalItem(partition, moved, bases.get(page));
        await insert([item]);
        bases = basesAfter(bases, [{ page: moved, item }]);
      }
  }
};
