import type { Day } from "../../model/calendar-day.ts";
import { TidemarkError } from "../../model/errors.ts";
import { CALENDAR_DATES_MAX, readRange } from "../../model/schedule.ts";
import { type DatesRead, type Fault, icalendarDays } from "./icalendar.ts";

/** Reads a file of dates, one or one range a line, or an iCalendar file. Throws `manifest.invalid` with a line for every fault. */
export const readDates = (file: string, text: string, today: Day): DatesRead => {
  const { faults, ...read } = /^\uFEFF?BEGIN:VCALENDAR/i.test(text) ? icalendarDays(text, today) : listedDays(text);
  if (faults.length === 0) return read;
  const lines = faults.slice(0, FAULTS_SHOWN).map(({ line, message }) => `Cannot read "${file}", line ${line}: ${message}`);
  throw new TidemarkError("manifest.invalid", lines.join("\n"), { lines });
};

const FAULTS_SHOWN = 20;

/** Dates and ranges, one a line. What follows a # is a comment. */
const listedDays = (text: string): DatesRead & { readonly faults: readonly Fault[] } => {
  const read = text
    .split(/\r?\n/)
    .map((line, index) => ({ line: index + 1, days: daysOfLine(line.replace(/#.*/, "").replace("\uFEFF", "").trim()) }));
  return {
    days: read.flatMap(({ days }) => (typeof days === "string" ? [] : days)),
    faults: read.flatMap(({ line, days }) => (typeof days === "string" ? [{ line, message: days }] : [])),
  };
};

/** The days of a line, or what is wrong with it. */
const daysOfLine = (words: string): readonly Day[] | string => {
  if (words === "") return [];
  const range = readRange(words);
  if (!range) return `"${words}" is no date; write one like 2026-12-25, or a range like 2026-12-24/2026-12-31`;
  const length = range.last - range.first + 1;
  if (length < 1) return `"${words}" ends before it begins; write the earlier date first`;
  if (length > CALENDAR_DATES_MAX) return `"${words}" has ${length} days, and the limit of a calendar is ${CALENDAR_DATES_MAX}`;
  return Array.from({ length }, (_, after) => range.first + after);
};
