import type { Calendar, ScheduleEntry } from "../../model/schedule.ts";
import { localDay } from "../../model/time-zone.ts";
import { type ScheduleWindow, windowsBetween } from "./windows.ts";

/** A window that began ten days ago may last, with its ramp. */
const DAYS_BACK = 10;
const DAYS_AHEAD = 2;

/** A window of an entry, or one that an exception leaves out. */
export interface LaneWindow extends ScheduleWindow {
  /** The calendar that has its day, or "except" for the dates of the entry. */
  readonly exceptedBy?: string;
}

/**
 * The windows of an entry that touch a stretch of time, with those that its exceptions leave out:
 * people look for a window that is not there.
 */
export const laneOf = (
  entry: ScheduleEntry,
  calendars: readonly Calendar[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly LaneWindow[] => {
  const days = {
    firstDay: localDay(entry.timeZone, fromMs) - DAYS_BACK,
    lastDay: localDay(entry.timeZone, untilMs) + DAYS_AHEAD,
  };
  const { exceptFrom, ...own } = entry;
  const kept = new Set(windowsBetween(entry, calendars, days).map(({ day }) => day));
  const ownDates = new Set(windowsBetween(own, calendars, days).map(({ day }) => day));
  return windowsBetween({ ...own, except: [] }, calendars, days)
    .filter(({ rampInMs, rampOutMs }) => rampInMs < untilMs && rampOutMs > fromMs)
    .map((window) =>
      kept.has(window.day)
        ? window
        : {
            ...window,
            exceptedBy: ownDates.has(window.day) ? (exceptFrom ?? "except") : "except",
          },
    );
};
