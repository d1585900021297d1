import * as z from "zod";
import type { ClusterName } from "../../../rules/model/ids.ts";
import {
  utcDate,
  monthOf,
  closedDayKey,
  eventDaysPk,
  closedMonthKey,
  eventMonthsPk,
} from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import {
  type CountsByPath,
  type ClosedRange,
  CountsSum,
  closedIn,
  closedItems,
  encodeClosed,
  readCounts,
  storedCounts,
  eventsIn,
} from "./event-counts.ts";
import {
  daysOf,
  type Stretch,
  eventOf,
  dayEventsParams,
  EVENT_DAYS_KEPT,
  ttlOf,
} from "./events.ts";
import { addedMs } from "./scope-changes.ts";
import { readAll } from "../table/read-many.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { type InsertHistory, historyItemOf, type HistoryItem } from "./item.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";

/** What is known of the events of a cluster in a stretch without reading them. */
export interface EventCalendar {
  readonly months: ReadonlyMap<string, ClosedMonth>;
  /**
   * The days outside of these that may have events, in order. Without counts: nobody counted them
   * yet, or an event of them came late.
   */
  readonly days: readonly KnownDay[];
  /** How many requests the calendar took, one after the other. */
  readonly requests: number;
}

export interface KnownDay {
  readonly day: string;
  readonly counts: CountsByPath | undefined;
}

export type Range = Pick<Stretch, "sinceMs" | "untilMs">;

/**
 * The newest days are never counted. For so few, reading which of them are empty costs more than it
 * saves.
 */
const FEW_DAYS = 4;
/** From so many days on that nobody counted, it is worth asking when the cluster was added. */
const MANY_DAYS = 10;

/** From this instant on, no month is closed. */
export const openSinceMs = (nowMs: number): number =>
  Date.parse(`${monthOf(utcDate(Math.max(0, nowMs - FEW_DAYS * DAY_MS)))}-01`);

/**
 * The calendar of a stretch, of closed months that it touches or, with `isWhole`, has as a whole.
 * Months are one request, the days that are left out by them another one, and where many of these
 * are not counted, a third one says when the cluster was added: it has no earlier event. With
 * `asksAdded` false there is no third one, and more days that may be empty.
 */
export const eventCalendar = async (
  tables: Tables,
  cluster: ClusterName,
  stretch: Range,
  { isWhole = false, asksAdded = true } = {},
): Promise<EventCalendar> => {
  const all = daysOf(stretch);
  if (all.length <= FEW_DAYS)
    return { months: new Map(), days: all.map((day) => ({ day, counts: undefined })), requests: 0 };
  const hasMonths = stretch.sinceMs < openSinceMs(tables.clock());
  const months = hasMonths
    ? await monthsOf(tables, cluster, stretch, isWhole)
    : new Map<string, ClosedMonth>();
  const added = [...months.values()].find((month) => month.added !== undefined)?.added ?? "";
  const rest = all.filter((day) => day >= added && !months.has(monthOf(day)));
  const known = await knownDays(tables, cluster, { days: rest, asksAdded });
  return { months, days: known.days, requests: known.requests + (hasMonths ? 1 : 0) };
};

const monthsOf = async (
  tables: Tables,
  cluster: ClusterName,
  stretch: Range,
  isWhole: boolean,
): Promise<ReadonlyMap<string, ClosedMonth>> => {
  const months = await closedMonths(tables, cluster, stretch);
  return isWhole
    ? new Map(
        [...months].filter(
          ([month]) =>
            Date.parse(`${month}-01`) >= stretch.sinceMs && endOf(month) <= stretch.untilMs,
        ),
      )
    : months;
};

/** The last millisecond of a month. */
const endOf = (month: string): number => {
  const begin = new Date(`${month}-01`);
  return Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1) - 1;
};

const knownDays = async (
  tables: Tables,
  cluster: ClusterName,
  { days, asksAdded }: { readonly days: readonly string[]; readonly asksAdded: boolean },
): Promise<Omit<EventCalendar, "months">> => {
  if (days.length === 0) return { days: [], requests: 0 };
  const closed = new Map(
    (await Promise.all(runsOf(days).map((run) => closedDays(tables, cluster, run)))).flatMap(
      (run) => [...run],
    ),
  );
  const uncounted = days.filter((day) => !closed.has(day));
  const asksFirst = asksAdded && uncounted.length > MANY_DAYS;
  const firstMs = asksFirst ? await addedMs(tables, cluster) : undefined;
  const first = firstMs === undefined ? "" : utcDate(firstMs);
  const known = days
    .filter((day) => day >= first && closed.get(day)?.size !== 0)
    .map((day) => ({ day, counts: closed.get(day) }));
  return { days: known, requests: asksFirst ? 2 : 1 };
};

/** Days that follow each other are one request. */
const runsOf = (days: readonly string[]): readonly Range[] => {
  const runs: { sinceMs: number; untilMs: number }[] = [];
  for (const day of days) {
    const atMs = Date.parse(day);
    const last = runs.at(-1);
    if (last && atMs - last.untilMs <= DAY_MS) last.untilMs = atMs;
    else runs.push({ sinceMs: atMs, untilMs: atMs });
  }
  return runs;
};

const daysIn = (cluster: ClusterName, { sinceMs, untilMs }: Stretch): ClosedRange => ({
  pk: eventDaysPk(cluster),
  first: utcDate(Math.max(0, sinceMs)),
  last: utcDate(untilMs),
});

/**
 * The closed days of a stretch, by date. A day without counts has no event, and no request asks for
 * its events.
 */
export const closedDays = (
  tables: Tables,
  cluster: ClusterName,
  stretch: Stretch,
): Promise<ReadonlyMap<string, CountsByPath>> =>
  closedIn(tables, daysIn(cluster, stretch), readCounts);

/**
 * An event is inserted within minutes of its time, but for one of a cluster that was not synced:
 * such an event marks its day from the second day after it on (`lateMarks`).
 */
const CLOSED_AFTER_DAYS = 3;
/** Days that one call closes: after an upgrade, thirteen months take ten calls. */
const DAYS_A_CALL = 40;
const PARALLEL = 8;

/**
 * Closes the days of a cluster that ended long enough ago: counts their events by autoscaler, and
 * stores the counts, empty ones too; then the months of which all days are closed. The counts
 * follow from the events, so that whichever call is first, and whichever release wrote the events,
 * they are the same. Returns the days that this call closed.
 */
export const closeDays = async (
  tables: Tables,
  insert: InsertHistory,
  cluster: ClusterName,
  nowMs: number,
): Promise<readonly string[]> => {
  const lastMs = (Math.floor(nowMs / DAY_MS) - CLOSED_AFTER_DAYS + 1) * DAY_MS - 1;
  const kept: Stretch = {
    sinceMs: Math.max(0, nowMs - EVENT_DAYS_KEPT * DAY_MS),
    untilMs: lastMs,
    newestFirst: true,
  };
  const [firstMs = kept.sinceMs, known] = await Promise.all([
    addedMs(tables, cluster),
    storedDays(tables, cluster, kept),
  ]);
  const all = daysOf({ ...kept, sinceMs: Math.max(kept.sinceMs, firstMs) });
  const days = all.filter((day) => !known.has(day)).slice(0, DAYS_A_CALL);
  const items = await mapWithLimit(days, PARALLEL, async (day) => {
    const body = encodeClosed(storedCounts(await countedDay(tables, cluster, day)));
    return {
      ...closedDayKey(cluster, day),
      body,
      ttlSeconds: ttlOf(Date.parse(day), EVENT_DAYS_KEPT + 1),
    };
  });
  if (items.length > 0) await insert(items);
  await closeMonths(tables, insert, {
    cluster,
    days: all,
    countsOf: (stretch) => closedDays(tables, cluster, stretch),
    isFirst: firstMs > kept.sinceMs,
  });
  return days;
};

const storedDays = async (
  tables: Tables,
  cluster: ClusterName,
  stretch: Stretch,
): Promise<ReadonlySet<string>> => {
  const days = new Set<string>();
  for await (const { time, late } of closedItems(tables, daysIn(cluster, stretch)))
    if (!late) days.add(time);
  return days;
};

const countedDay = async (
  tables: Tables,
  cluster: ClusterName,
  day: string,
): Promise<CountsByPath> => {
  const fromMs = Date.parse(day);
  const params = dayEventsParams(tables.historyTable, cluster, day, {
    sinceMs: fromMs,
    untilMs: fromMs + DAY_MS - 1,
  });
  const counted = new CountsSum();
  for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params))
    counted.addEvent(eventOf(historyItemOf(item)));
  return counted.byPath;
};

/** What happened in a closed month. */
interface ClosedMonth {
  readonly counts: CountsByPath;
  /** How many events each day has that has some, by its date. */
  readonly days: ReadonlyMap<string, number>;
  /**
   * The day on which the cluster was added, where that was in this month: it has no earlier event.
   */
  readonly added?: string;
}

const stored = z.object({
  days: z.record(z.string(), z.number()),
  counts: z.unknown(),
  added: z.string().exactOptional(),
});

const readMonth = (value: unknown): ClosedMonth => {
  const { days, counts, added } = stored.parse(value);
  return {
    days: new Map(Object.entries(days)),
    counts: readCounts(counts),
    ...(added !== undefined && { added }),
  };
};

const monthsIn = (cluster: ClusterName, { sinceMs, untilMs }: Range): ClosedRange => ({
  pk: eventMonthsPk(cluster),
  first: monthOf(utcDate(Math.max(0, sinceMs))),
  last: monthOf(utcDate(untilMs)),
});

/** The closed months that a stretch touches: 13 of them are one request. */
export const closedMonths = (
  tables: Tables,
  cluster: ClusterName,
  stretch: Range,
): Promise<ReadonlyMap<string, ClosedMonth>> =>
  closedIn(tables, monthsIn(cluster, stretch), readMonth);

interface ToClose {
  readonly cluster: ClusterName;
  /** Every day that can be closed, newest first. */
  readonly days: readonly string[];
  /** True where the cluster was added on the oldest of these days. */
  readonly isFirst: boolean;
  readonly countsOf: (stretch: Stretch) => Promise<ReadonlyMap<string, CountsByPath>>;
}

/**
 * Closes the months of which every day is closed. A month with an event that came late is never
 * closed: its days are asked for.
 */
const closeMonths = async (
  tables: Tables,
  insert: InsertHistory,
  { cluster, days, isFirst, countsOf }: ToClose,
): Promise<void> => {
  const months = wholeMonths(days, isFirst);
  const [newest, oldest] = [days[0], days.at(-1)];
  if (months.size === 0 || newest === undefined || oldest === undefined) return;
  for await (const { time } of closedItems(
    tables,
    monthsIn(cluster, { sinceMs: Date.parse(oldest), untilMs: Date.parse(newest) }),
  ))
    months.delete(time);
  const open = [...months.values()].flat();
  if (open.length === 0) return;
  const times = open.map((day) => Date.parse(day));
  const closed = await countsOf({ sinceMs: Math.min(...times), untilMs: Math.max(...times) });
  const added = isFirst ? oldest : undefined;
  const items = [...months].flatMap(([month, inMonth]) =>
    itemOf({ cluster, month, added }, inMonth, closed),
  );
  if (items.length > 0) await insert(items);
};

/** The days of each month that is over and can be closed whole, by month. */
const wholeMonths = (days: readonly string[], isFirst: boolean): Map<string, readonly string[]> => {
  const oldest = days.at(-1);
  const all = [...Map.groupBy(days, monthOf)];
  return new Map(
    all.filter(
      ([month, [last, ...rest]]) =>
        last !== undefined &&
        isWhole(month, { last, first: rest.at(-1) ?? last }, isFirst ? oldest : undefined),
    ),
  );
};

const isWhole = (
  month: string,
  { first, last }: { readonly first: string; readonly last: string },
  added: string | undefined,
): boolean =>
  (first === `${month}-01` || first === added) &&
  monthOf(utcDate(Date.parse(last) + DAY_MS)) !== month;

interface Place {
  readonly cluster: ClusterName;
  readonly month: string;
  readonly added: string | undefined;
}

const itemOf = (
  { cluster, month, added }: Place,
  days: readonly string[],
  closed: ReadonlyMap<string, CountsByPath>,
): readonly HistoryItem[] => {
  const sum = new CountsSum();
  const totals: Record<string, number> = {};
  for (const day of days) {
    const counts = closed.get(day);
    if (!counts) return [];
    sum.add(counts);
    const total = [...counts.values()].reduce((events, one) => events + eventsIn(one), 0);
    if (total > 0) totals[day] = total;
  }
  const isAdded = added !== undefined && monthOf(added) === month;
  const body = encodeClosed({
    days: totals,
    counts: storedCounts(sum.byPath),
    ...(isAdded && { added }),
  });
  return [
    {
      ...closedMonthKey(cluster, month),
      body,
      ttlSeconds: ttlOf(Date.parse(`${month}-01`), EVENT_DAYS_KEPT + 1),
    },
  ];
};
