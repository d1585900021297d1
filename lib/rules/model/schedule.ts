import { type Day, readDay } from "./time-text.ts";

/**
 * One entry of the schedule of an autoscaler, defaulted (docs/pod-autoscaler.md, "Schedules"). A
 * window starts on each of its days; what it sets holds inside.
 */
export interface ScheduleEntry {
  /** Unique in its schedule. */
  readonly name: string;
  /** The name of an area, such as "Europe/Berlin". */
  readonly timeZone: string;
  readonly on: StartDays;
  /** Minutes since midnight, 0 to 1439. */
  readonly fromMinute: number;
  /** Minutes since midnight, 0 to 1440. */
  readonly toMinute: number;
  /**
   * The weekday on which a window ends: the first one that makes the end later than the start.
   * Absent: the same day, or the next.
   */
  readonly toWeekday?: number;
  /** Days on which no window starts. */
  readonly except: readonly DayRange[];
  /** The name of a calendar of the fleet with further such days. */
  readonly exceptFrom?: string;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly paused?: boolean;
  /** The floor climbs for so long before a window. */
  readonly rampInMs: number;
  /** Floor and ceiling fall for so long after a window. */
  readonly rampOutMs: number;
  /** Of the entries that set a field, those with the highest priority count. */
  readonly priority: number;
  /** A suspended entry is kept, and sets nothing. */
  readonly suspended: boolean;
}

/** The days on which windows start: weekdays, or dates. */
export type StartDays =
  | { readonly kind: "weekdays"; readonly weekdays: readonly WeekdayRule[] }
  | { readonly kind: "dates"; readonly dates: readonly DayRange[] };

/**
 * A weekday, 0 for Monday; with `nth` only the nth of its month, or with a negative number the nth
 * from its end.
 */
export interface WeekdayRule {
  readonly weekday: number;
  readonly nth?: number;
}

/** Both days are inside. */
export interface DayRange {
  readonly first: Day;
  readonly last: Day;
}

/**
 * The days of "2026-12-25" and "2026-12-24/2026-12-31"; undefined for any other text, and for dates
 * that do not exist. The last may be before the first.
 */
export const readRange = (text: string): DayRange | undefined => {
  const [from = "", to = from, ...more] = text.split("/");
  const [first, last] = [readDay(from), readDay(to)];
  return first === undefined || last === undefined || more.length > 0 ? undefined : { first, last };
};

/** A calendar of the fleet: days on which windows of entries that name it do not start. */
export interface Calendar {
  readonly name: string;
  /** In order, each once. */
  readonly days: readonly Day[];
}

/** Changes of the bounds that one answer has: as many as a year of an ordinary schedule has. */
export const CHANGES_AHEAD_MAX = 1_000;
export const ENTRIES_MAX = 64;
export const DATES_MAX = 200;
export const RAMP_MINUTES_MAX = 1_440;
export const CALENDAR_NAME = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";
/**
 * Each sync reads the calendars with the item of the fleet: with all of these dates it has 6 KB
 * more.
 */
export const CALENDARS_MAX = 50;
export const CALENDAR_DATES_MAX = 400;
export const ALL_CALENDAR_DATES_MAX = 1_000;
