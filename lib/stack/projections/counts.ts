import type { ClusterName } from "../../rules/model/ids.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { closedDays } from "../store/history/event-calendar.ts";
import {
  type CountsByPath,
  CountsSum,
  encodeClosed,
  eventsIn,
  storedCounts,
} from "../store/history/event-counts.ts";
import { dayEventsParams, daysOf, EVENT_DAYS_KEPT, eventOf } from "../store/history/events.ts";
import { historyItemOf } from "../store/history/item.ts";
import { addedMs } from "../store/history/scope-changes.ts";
import { utcDate, eventDaysPk, eventMonthsPk } from "../store/table/keys.ts";
import { readAll } from "../store/table/read-many.ts";
import type { Tables } from "../store/table/tables.ts";
import type { Folded, FactPlace, Projection, Slot } from "./project.ts";

/**
 * Of a divided cluster the first partition counts, from the day on which the cluster was added. The
 * history says that day until the first counts are stored, and long after.
 */
const ofFirst =
  (
    placeOf: (tables: Tables, cluster: ClusterName) => Omit<FactPlace, "firstMs">,
  ): Projection["places"] =>
  async ({ tables, cluster: { name, partitions }, partition, nowMs }) =>
    partitions[0]?.name === partition
      ? [
          {
            ...placeOf(tables, name),
            firstMs: async () => (await addedMs(tables, name)) ?? nowMs,
          },
        ]
      : [];

const RETENTION = {
  reachMs: EVENT_DAYS_KEPT * DAY_MS,
  markDays: EVENT_DAYS_KEPT + 1,
} as const;

/**
 * The scale events of a day by autoscaler, counted on the third day after it; a day without events
 * too, so that readers of events need not ask for it. An event is inserted within minutes of its
 * time, but for one of a cluster that was not synced: such an event marks its day from the second
 * day after it on (`lateMarks` of events.ts), and the day is then asked for its events.
 */
export const DAY_COUNTS: Projection = {
  name: "days",
  ...RETENTION,
  slots: {
    beginOf: (ms) => Math.floor(ms / DAY_MS) * DAY_MS,
    endOf: (fromMs) => fromMs + DAY_MS,
    characters: "2026-11-21".length,
  },
  settledMs: 2 * DAY_MS,
  places: ofFirst((tables, cluster) => ({
    pk: eventDaysPk(cluster),
    fold: (slot) => dayCounted(tables, cluster, slot),
  })),
};

/** What a mark says of a time that is asked for its events as if it had none. */
const UNCOUNTED: Folded = { items: [], mark: "uncounted" };
/** An item holds 400 KB: the counts of some 20,000 autoscalers. */
const COUNTS_BYTES_MAX = 390_000;

const counted = (value: unknown): Folded => {
  const mark = encodeClosed(value);
  return mark.length <= COUNTS_BYTES_MAX ? { items: [], mark } : UNCOUNTED;
};

const dayCounted = async (
  tables: Tables,
  cluster: ClusterName,
  { fromMs, endMs }: Slot,
): Promise<Folded> => {
  const stretch = { sinceMs: fromMs, untilMs: endMs - 1 };
  const params = dayEventsParams(tables.historyTable, cluster, utcDate(fromMs), stretch);
  const sum = new CountsSum();
  try {
    for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params))
      sum.addEvent(eventOf(historyItemOf(item)));
  } catch (error) {
    // Counts without one of its events would hide it.
    if (isTidemarkError(error, "store.unreadable")) return UNCOUNTED;
    throw error;
  }
  return counted(storedCounts(sum.byPath));
};

/**
 * The same of a month whose days are all counted, with the number of events of each day. A month
 * with a day that is not counted is asked day by day.
 */
export const MONTH_COUNTS: Projection = {
  name: "months",
  ...RETENTION,
  follows: DAY_COUNTS.name,
  slots: {
    beginOf: (ms) => monthFrom(ms, 0),
    endOf: (fromMs) => monthFrom(fromMs, 1),
    characters: "2026-11".length,
  },
  settledMs: 0,
  places: ofFirst((tables, cluster) => ({
    pk: eventMonthsPk(cluster),
    fold: (slot) => monthCounted(tables, cluster, slot),
  })),
};

const monthFrom = (ms: number, later: number): number => {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later);
};

const monthCounted = async (
  tables: Tables,
  cluster: ClusterName,
  { fromMs, endMs }: Slot,
): Promise<Folded> => {
  const firstMs = await addedMs(tables, cluster);
  const isAdded = firstMs !== undefined && firstMs >= fromMs && firstMs < endMs;
  const stretch = { sinceMs: isAdded ? firstMs : fromMs, untilMs: endMs - 1 };
  const closed = await closedDays(tables, cluster, stretch);
  const sum = new CountsSum();
  const days: Record<string, number> = {};
  for (const day of daysOf(stretch)) {
    const counts = closed.get(day);
    if (!counts) return UNCOUNTED;
    sum.add(counts);
    const events = eventsOfDay(counts);
    if (events > 0) days[day] = events;
  }
  const added = isAdded ? { added: utcDate(firstMs) } : {};
  return counted({ days, counts: storedCounts(sum.byPath), ...added });
};

const eventsOfDay = (counts: CountsByPath): number =>
  [...counts.values()].reduce((events, one) => events + eventsIn(one), 0);
