import { type CalendarDate, type Day, dateOf, dayOf } from "../../model/time-text.ts";
import { TidemarkError } from "../../model/errors.ts";
import { CALENDAR_DATES_MAX, type DayRange, readRange } from "../../model/schedule.ts";

/** What a file of dates says. */
export interface DatesRead {
  readonly days: readonly Day[];
  /**
   * The last day to which rules that repeat without an end are written out; absent where there is
   * none.
   */
  readonly repeatsUntil?: Day;
}

interface Fault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/*
 * All-day events of an iCalendar file (RFC 5545), as calendars of holidays have them: DTSTART and
 * DTEND with VALUE=DATE, DURATION in days, RRULE that repeats yearly, EXDATE. What would move a
 * date and is none of these is refused by its name, because a date that is silently left out is
 * found on the holiday.
 */

/** A property of an event, unfolded. */
interface Property {
  readonly name: string;
  /** In capitals. */
  readonly parameters: string;
  readonly value: string;
  readonly line: number;
}

interface VEvent {
  readonly line: number;
  readonly properties: readonly Property[];
}

/** How many years rules without an end are written out: this one and the next two. */
const YEARS_AHEAD = 2;

/**
 * Days that one file may stand for, past ones and repeated ones included. A file of some KB can
 * stand for millions: an event of a year that repeats since the year 1, written out some dozen
 * times. Twenty holidays of two centuries are 4,000.
 */
const WRITTEN_OUT_MAX = 20_000;

/** The days of a file, counted before they are written out. */
class WrittenOut {
  readonly days: Day[] = [];
  #left = WRITTEN_OUT_MAX;

  /** False, and nothing is added, where the file stands for more days than are read. */
  add(starts: readonly Day[], length: number): boolean {
    this.#left -= starts.length * length;
    if (this.#left < 0) return false;
    for (const start of starts)
      for (let after = 0; after < length; after++) this.days.push(start + after);
    return true;
  }
}

const TOO_MANY = `the file has more than ${WRITTEN_OUT_MAX} days up to here, and a calendar has at most ${CALENDAR_DATES_MAX}; leave out past dates and events that began long ago`;

const icalendarDays = (text: string, today: Day): Reading => {
  const horizon = dayOf(dateOf(today).year + YEARS_AHEAD, 12, 31) ?? today;
  const written = new WrittenOut();
  const faults: Fault[] = [];
  let isOpen = false;
  for (const event of eventsIn(text)) {
    const read = daysOfEvent(event, horizon);
    if ("fault" in read) faults.push(read.fault);
    else if (!written.add(read.starts, read.length))
      return { days: [], faults: [...faults, { line: event.line, message: TOO_MANY }] };
    else isOpen ||= read.isOpen;
  }
  return { days: written.days, faults, ...(isOpen && { repeatsUntil: horizon }) };
};

type Reading = DatesRead & { readonly faults: readonly Fault[] };

/**
 * The events with their own properties, and without the properties of components inside them, such
 * as alarms.
 */
const eventsIn = (text: string): readonly VEvent[] => {
  const events: { readonly line: number; readonly properties: Property[] }[] = [];
  const open: string[] = [];
  for (const property of propertiesIn(text)) {
    const { name, value, line } = property;
    if (name === "END") open.pop();
    else if (name === "BEGIN") open.push(value.toUpperCase());
    else if (open.at(-1) === "VEVENT") events.at(-1)?.properties.push(property);
    if (name === "BEGIN" && open.at(-1) === "VEVENT") events.push({ line, properties: [] });
  }
  return events;
};

const PROPERTY = /^([A-Za-z0-9-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/;

/** A line that begins with a blank goes on with the one before. */
const propertiesIn = (text: string): readonly Property[] => {
  const unfolded: { text: string; readonly line: number }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const last = unfolded.at(-1);
    if (/^[ \t]/.test(line) && last) last.text += line.slice(1);
    else unfolded.push({ text: line, line: index + 1 });
  }
  return unfolded.flatMap(({ text: whole, line }) => {
    const [, name, parameters = "", value = ""] = PROPERTY.exec(whole) ?? [];
    return name === undefined
      ? []
      : [
          {
            name: name.toUpperCase(),
            parameters: parameters.toUpperCase(),
            value: value.trim(),
            line,
          },
        ];
  });
};

type EventDays =
  | { readonly starts: readonly Day[]; readonly length: number; readonly isOpen: boolean }
  | { readonly fault: Fault };

/** Properties that change on which days an event is, and that are not read. */
const REFUSED = ["RDATE", "EXRULE", "RECURRENCE-ID"];

const daysOfEvent = ({ line, properties }: VEvent, horizon: Day): EventDays => {
  const named = (name: string): Property | undefined =>
    properties.find((property) => property.name === name);
  const words = named("SUMMARY")?.value ?? "without a summary";
  const fault = (at: Property | undefined, message: string): EventDays => ({
    fault: { line: at?.line ?? line, message: `event "${words}": ${message}` },
  });
  if (named("STATUS")?.value.toUpperCase() === "CANCELLED")
    return { starts: [], length: 1, isOpen: false };
  const refused = properties.find(({ name }) => REFUSED.includes(name));
  if (refused)
    return fault(refused, `${refused.name} is not read; write the dates into a file, one a line`);
  const start = named("DTSTART");
  const first = start && dateIn(start);
  if (first === undefined)
    return fault(
      start,
      `DTSTART must be a date (VALUE=DATE), and not a time: a calendar has whole days`,
    );
  const length = lengthOf(first, named("DTEND"), named("DURATION"));
  if (length === undefined)
    return fault(
      named("DTEND") ?? named("DURATION"),
      "its end must be a date after its start, within a year",
    );
  // Before anything is written out: an event that is refused costs nothing.
  const excepted = new Set(
    properties
      .filter(({ name }) => name === "EXDATE")
      .flatMap(({ value }) => value.split(",").map(readBasic)),
  );
  if (excepted.has(undefined))
    return fault(named("EXDATE"), "EXDATE must have dates (VALUE=DATE), and not times");
  const rule = named("RRULE");
  const starts = rule ? startsOf(first, rule.value, horizon) : { days: [first], isOpen: false };
  if ("unread" in starts)
    return fault(
      rule,
      `RRULE with ${starts.unread} is not read, only FREQ=YEARLY with INTERVAL, COUNT and UNTIL; write the dates into a file, one a line`,
    );
  return {
    starts: starts.days.filter((day) => !excepted.has(day)),
    length,
    isOpen: starts.isOpen,
  };
};

/** The day of "20261225". */
const readBasic = (text: string): Day | undefined => {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text.trim()) ?? [];
  return year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day));
};

const dateIn = ({ value }: Property): Day | undefined => readBasic(value);

/** Days of one event; DTEND is the day after its last one. */
const lengthOf = (
  first: Day,
  end: Property | undefined,
  duration: Property | undefined,
): number | undefined => {
  const [, weeks, days] = /^P(?:(\d+)W|(\d+)D)$/.exec(duration?.value.toUpperCase() ?? "P1D") ?? [];
  const last = end && dateIn(end);
  const length = end
    ? last === undefined
      ? 0
      : last - first
    : weeks === undefined
      ? Number(days ?? 0)
      : Number(weeks) * 7;
  return length >= 1 && length <= CALENDAR_DATES_MAX ? length : undefined;
};

type Starts =
  | { readonly days: readonly Day[]; readonly isOpen: boolean }
  | { readonly unread: string };

/** The parts of a rule, "FREQ" to "YEARLY". */
const partsOf = (rule: string): ReadonlyMap<string, string> =>
  new Map(
    rule
      .toUpperCase()
      .split(";")
      .filter((part) => part !== "")
      .map(
        (part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)] as const,
      ),
  );

const COUNT = /^[1-9][0-9]{0,4}$/;

/**
 * The parts of a yearly rule that are read, with the values that may be. A month and a day must be
 * the month and the day of the start.
 */
const readable = ({
  month,
  day,
}: CalendarDate): Readonly<Record<string, (value: string) => boolean>> => ({
  FREQ: (value) => value === "YEARLY",
  INTERVAL: (value) => COUNT.test(value),
  COUNT: (value) => COUNT.test(value),
  UNTIL: (value) => readBasic(value.slice(0, 8)) !== undefined,
  WKST: () => true,
  BYMONTH: (value) => value === String(month),
  BYMONTHDAY: (value) => value === String(day),
});

/**
 * The days on which a yearly rule begins. A 29 February is only in leap years, as RFC 5545 says.
 */
const startsOf = (first: Day, rule: string, horizon: Day): Starts => {
  const date = dateOf(first);
  const parts = partsOf(rule);
  const allowed = readable(date);
  const unread = [...parts].find(([name, value]) => !allowed[name]?.(value));
  if (unread || !parts.has("FREQ")) return { unread: unread?.join("=") ?? "no FREQ" };
  const until = readBasic(parts.get("UNTIL")?.slice(0, 8) ?? "");
  const count = Number(parts.get("COUNT") ?? Number.MAX_VALUE);
  const days = yearlyFrom(date, {
    last: Math.min(horizon, until ?? horizon),
    interval: Number(parts.get("INTERVAL") ?? 1),
    count,
  });
  return { days, isOpen: until === undefined && days.length < count };
};

const yearlyFrom = (
  { year: first, month, day: ofMonth }: CalendarDate,
  {
    last,
    interval,
    count,
  }: { readonly last: Day; readonly interval: number; readonly count: number },
): readonly Day[] => {
  const days: Day[] = [];
  const lastYear = dateOf(last).year;
  for (let year = first; year <= lastYear && days.length < count; year += interval) {
    const day = dayOf(year, month, ofMonth);
    if (day !== undefined && day <= last) days.push(day);
  }
  return days;
};

/**
 * Reads a file of dates, one or one range a line, or an iCalendar file. Throws `manifest.invalid`
 * with a line for every fault.
 */
export const readDates = (file: string, text: string, today: Day): DatesRead => {
  const { faults, ...read } = /^\uFEFF?BEGIN:VCALENDAR/i.test(text)
    ? icalendarDays(text, today)
    : listedDays(text);
  if (faults.length === 0) return read;
  const lines = faults
    .slice(0, FAULTS_SHOWN)
    .map(({ line, message }) => `Cannot read "${file}", line ${line}: ${message}`);
  throw new TidemarkError("manifest.invalid", lines.join("\n"), { lines });
};

const FAULTS_SHOWN = 20;

/** Dates and ranges, one a line. What follows a # is a comment. */
const listedDays = (text: string): Reading => {
  const written = new WrittenOut();
  const faults: Fault[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.replace(/#.*/, "").replace("\uFEFF", "").trim();
    if (words === "") continue;
    const read = rangeOfLine(words);
    const at = index + 1;
    if (typeof read === "string") faults.push({ line: at, message: read });
    else if (!written.add([read.first], read.last - read.first + 1))
      return { days: [], faults: [...faults, { line: at, message: TOO_MANY }] };
  }
  return { days: written.days, faults };
};

/** The days of a line, or what is wrong with it. */
const rangeOfLine = (words: string): DayRange | string => {
  const range = readRange(words);
  if (!range)
    return `"${words}" is no date; write one like 2026-12-25, or a range like 2026-12-24/2026-12-31`;
  const length = range.last - range.first + 1;
  if (length < 1) return `"${words}" ends before it begins; write the earlier date first`;
  if (length > CALENDAR_DATES_MAX)
    return `"${words}" has ${length} days, and the limit of a calendar is ${CALENDAR_DATES_MAX}`;
  return range;
};
