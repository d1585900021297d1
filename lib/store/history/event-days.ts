import type { ClusterName } from "../../model/ids.ts";
import { closedDayKey, dayOf, eventDaysPk } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { eventOf } from "./event-codec.ts";
import { type ClosedRange, type CountsByPath, CountsSum, closedIn, closedItems, encodeClosed, readCounts, storedCounts } from "./event-counts.ts";
import { closeMonths } from "./event-months.ts";
import { DAY_MS, dayEventsParams, daysOf, EVENT_DAYS_KEPT, type Stretch, ttlOf } from "./events.ts";
import type { InsertHistory } from "./insert-history.ts";
import { historyItemOf } from "./item.ts";
import { addedMs } from "./scope-changes.ts";

const rangeOf = (cluster: ClusterName, { sinceMs, untilMs }: Stretch): ClosedRange => ({
  pk: eventDaysPk(cluster),
  first: dayOf(Math.max(0, sinceMs)),
  last: dayOf(untilMs),
});

/** The closed days of a stretch, by date. A day without counts has no event, and no request asks for its events. */
export const closedDays = (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<ReadonlyMap<string, CountsByPath>> =>
  closedIn(tables, rangeOf(cluster, stretch), readCounts);

/** An event is inserted within minutes of its time, but for one of a cluster that was not synced: such an event marks its day from the second day after it on (`lateMarks`). */
const CLOSED_AFTER_DAYS = 3;
/** Days that one call closes: after an upgrade, thirteen months take ten calls. */
const DAYS_A_CALL = 40;
const PARALLEL = 8;

/**
 * Closes the days of a cluster that ended long enough ago: counts their events by autoscaler, and stores the counts, empty ones too; then the months of which all days are closed. The counts follow from the
 * events, so that whichever call is first, and whichever release wrote the events, they are the same. Returns the days that this call closed.
 */
export const closeDays = async (tables: Tables, insert: InsertHistory, cluster: ClusterName, nowMs: number): Promise<readonly string[]> => {
  const lastMs = (Math.floor(nowMs / DAY_MS) - CLOSED_AFTER_DAYS + 1) * DAY_MS - 1;
  const kept: Stretch = { sinceMs: Math.max(0, nowMs - EVENT_DAYS_KEPT * DAY_MS), untilMs: lastMs, newestFirst: true };
  const [firstMs = kept.sinceMs, known] = await Promise.all([addedMs(tables, cluster), storedDays(tables, cluster, kept)]);
  const all = daysOf({ ...kept, sinceMs: Math.max(kept.sinceMs, firstMs) });
  const days = all.filter((day) => !known.has(day)).slice(0, DAYS_A_CALL);
  const items = await mapWithLimit(days, PARALLEL, async (day) => {
    const body = encodeClosed(storedCounts(await countedDay(tables, cluster, day)));
    return { ...closedDayKey(cluster, day), body, ttlSeconds: ttlOf(Date.parse(day), EVENT_DAYS_KEPT + 1) };
  });
  if (items.length > 0) await insert(items);
  await closeMonths(tables, insert, {
    cluster,
    days: all,
    closedDays: (stretch) => closedDays(tables, cluster, stretch),
    isFirst: firstMs > kept.sinceMs,
  });
  return days;
};

const storedDays = async (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<ReadonlySet<string>> => {
  const days = new Set<string>();
  for await (const { time, late } of closedItems(tables, rangeOf(cluster, stretch))) if (!late) days.add(time);
  return days;
};

const countedDay = async (tables: Tables, cluster: ClusterName, day: string): Promise<CountsByPath> => {
  const fromMs = Date.parse(day);
  const params = dayEventsParams(tables.historyTable, cluster, day, { sinceMs: fromMs, untilMs: fromMs + DAY_MS - 1 });
  const counted = new CountsSum();
  for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params)) counted.addEvent(eventOf(historyItemOf(item)));
  return counted.byPath;
};
