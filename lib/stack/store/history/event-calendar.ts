import * as z from "zod";
import type { ClusterName } from "../../../rules/model/ids.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { utcDate, eventDaysPk, eventMonthsPk, monthOf } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { type ClosedRange, type CountsByPath, closedIn, readCounts } from "./event-counts.ts";
import { daysOf, type Stretch } from "./events.ts";
import { addedMs } from "./scope-changes.ts";

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
