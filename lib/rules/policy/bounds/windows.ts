import {
  type CalendarDate,
  type Day,
  dateOf,
  daysIn,
  weekdayOf,
  DAY_MS,
} from "../../model/time-text.ts";
import type { Calendar, DayRange, ScheduleEntry, WeekdayRule } from "../../model/schedule.ts";
import { firstInstantAt } from "../../model/time-zone.ts";

/** One window of a schedule entry, with its ramps. Its end and the end of its ramp are outside. */
export interface ScheduleWindow {
  /** The local day on which it starts. */
  readonly day: Day;
  readonly rampInMs: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly rampOutMs: number;
}

/**
 * A window starts on one day and ends within a week after it; a ramp takes a day at most, and a
 * zone is less than a day ahead of UTC.
 */
const DAYS_BEFORE = 10;
const DAYS_AFTER = 3;

/**
 * What was worked out last for an entry: a spec stays the same object from sync to sync, and so
 * most syncs only compare numbers.
 */
interface Remembered {
  readonly utcDay: number;
  readonly excepted: readonly Day[];
  readonly windows: readonly ScheduleWindow[];
}
const REMEMBERED = new WeakMap<ScheduleEntry, Remembered>();

/**
 * The windows of an entry that are not over, or not long over, around an instant: every one that
 * may hold or ramp on this day of UTC.
 */
export const windowsAround = (
  entry: ScheduleEntry,
  calendars: readonly Calendar[],
  atMs: number,
): readonly ScheduleWindow[] => {
  const utcDay = Math.floor(atMs / DAY_MS);
  const excepted = daysOfCalendar(entry, calendars);
  const known = REMEMBERED.get(entry);
  if (known?.utcDay === utcDay && areSame(known.excepted, excepted)) return known.windows;
  const windows = windowsBetween(entry, calendars, {
    firstDay: utcDay - DAYS_BEFORE,
    lastDay: utcDay + DAYS_AFTER,
  });
  REMEMBERED.set(entry, { utcDay, excepted, windows });
  return windows;
};

/**
 * The windows that start on these local days, in order. A window that a change of the clock leaves
 * no time is none.
 */
export const windowsBetween = (
  entry: ScheduleEntry,
  calendars: readonly Calendar[],
  { firstDay, lastDay }: { readonly firstDay: Day; readonly lastDay: Day },
): readonly ScheduleWindow[] => {
  const isExcepted = exceptedDays(entry, calendars);
  const windows: ScheduleWindow[] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    if (!startsOn(entry, day) || isExcepted(day)) continue;
    const { startMs, endMs } = edgesOf(entry, day);
    if (endMs > startMs)
      windows.push({
        day,
        rampInMs: startMs - entry.rampInMs,
        startMs,
        endMs,
        rampOutMs: endMs + entry.rampOutMs,
      });
  }
  return windows;
};

/**
 * Start and end of the window of a day; both the same where a change of the clock leaves it no
 * time.
 */
export const edgesOf = (
  entry: ScheduleEntry,
  day: Day,
): { readonly startMs: number; readonly endMs: number } => ({
  startMs: firstInstantAt(entry.timeZone, day, entry.fromMinute),
  endMs: firstInstantAt(entry.timeZone, day + daysLong(entry, day), entry.toMinute),
});

/** Days from the start of a window to its end. */
export const daysLong = ({ fromMinute, toMinute, toWeekday }: ScheduleEntry, day: Day): number => {
  if (toWeekday === undefined) return toMinute <= fromMinute ? 1 : 0;
  const ahead = (toWeekday - weekdayOf(day) + 7) % 7;
  return ahead === 0 && toMinute <= fromMinute ? 7 : ahead;
};

/** Whether a window may start on a day, exceptions aside. */
export const startsOn = ({ on }: ScheduleEntry, day: Day): boolean =>
  on.kind === "dates" ? isWithin(on.dates, day) : on.weekdays.some((rule) => isOn(rule, day));

const isOn = ({ weekday, nth }: WeekdayRule, day: Day): boolean => {
  if (weekdayOf(day) !== weekday) return false;
  return nth === undefined || nth === nthOfMonth(dateOf(day), nth > 0);
};

/** Which one of its weekday a date is in its month, from the beginning or from the end. */
const nthOfMonth = ({ year, month, day }: CalendarDate, fromBeginning: boolean): number =>
  fromBeginning ? Math.ceil(day / 7) : -Math.ceil((daysIn(month, year) - day + 1) / 7);

const isWithin = (ranges: readonly DayRange[], day: Day): boolean =>
  ranges.some(({ first, last }) => first <= day && day <= last);

const exceptedDays = (
  entry: ScheduleEntry,
  calendars: readonly Calendar[],
): ((day: Day) => boolean) => {
  const ofCalendar = new Set(daysOfCalendar(entry, calendars));
  return (day) => isWithin(entry.except, day) || ofCalendar.has(day);
};

const NO_DAYS: readonly Day[] = [];

/**
 * A calendar that the fleet does not have excepts no day in what people are shown. Nothing is
 * scaled by it: `override` holds such an autoscaler.
 */
const daysOfCalendar = (
  { exceptFrom }: ScheduleEntry,
  calendars: readonly Calendar[],
): readonly Day[] =>
  exceptFrom === undefined
    ? NO_DAYS
    : (calendars.find(({ name }) => name === exceptFrom)?.days ?? NO_DAYS);

const areSame = (ones: readonly Day[], others: readonly Day[]): boolean =>
  ones === others || (ones.length === others.length && ones.every((day, at) => day === others[at]));
