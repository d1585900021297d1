export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_SECONDS = 86_400;

/** The JSON Schema uses the same pattern. */
export const RFC_3339 =
  /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const PARTS = /(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?(?:Z|([+-])(\d+):(\d+))/;

/**
 * The first and the last instant with a year of four digits. Others could be stored, but not
 * printed again.
 */
export const EARLIEST_MS = -62_167_219_200_000;
export const LATEST_MS = 253_402_300_799_999;
/** The last instant that a Date can hold. */
export const LATEST_DATE_MS = 8_640_000_000_000_000;

/**
 * Milliseconds since 1970 of an RFC 3339 time; undefined for any other text. All times that people
 * write are read here. A day that its month does not have is refused: `Date.parse` would read the
 * 30th of February as the 2nd of March.
 */
export const readInstant = (text: string): number | undefined => {
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction = "",
    sign = "+",
    aheadHours = "0",
    aheadMinutes = "0",
  ] = RFC_3339.test(text) ? (PARTS.exec(text) ?? []) : [];
  const days = dayOf(Number(year), Number(month), Number(day));
  if (days === undefined) return undefined;
  const minutes = (days * 24 + Number(hour)) * 60 + Number(minute);
  const ahead = Number(sign + aheadHours) * 60 + Number(sign + aheadMinutes);
  const atMs =
    ((minutes - ahead) * 60 + Number(second)) * 1_000 + Number(fraction.padEnd(3, "0").slice(0, 3));
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined;
};

/** A day of the calendar, without a zone: the number of days since 1970-01-01. */
export type Day = number;

const DAYS_BEFORE_1970 = 719_468;
/** Days of 400 years, after which the calendar repeats. */
const ERA_DAYS = 146_097;

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

export const daysIn = (month: number, year: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/**
 * The day of a date; undefined where there is no such day. The calculation begins each year in
 * March, so that a leap day is the last day of its year.
 */
export const dayOf = (year: number, month: number, day: number): Day | undefined => {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysIn(month, year))) return undefined;
  const from = month > 2 ? year : year - 1;
  const sinceMarch = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  return (
    365 * from +
    Math.floor(from / 4) -
    Math.floor(from / 100) +
    Math.floor(from / 400) +
    sinceMarch +
    day -
    1 -
    DAYS_BEFORE_1970
  );
};

export interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

/** The date of a day, by the same years that begin in March. */
export const dateOf = (day: Day): CalendarDate => {
  const shifted = day + DAYS_BEFORE_1970;
  const era = Math.floor(shifted / ERA_DAYS);
  const ofEra = shifted - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) /
      365,
  );
  const ofYear =
    ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * ofYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: ofYear - Math.floor((153 * marchMonth + 2) / 5) + 1 };
};

export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

/** 0 for Monday to 6 for Sunday. 1970-01-01 was a Thursday. */
export const weekdayOf = (day: Day): number => (((day + 3) % 7) + 7) % 7;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The day of "2026-12-25"; undefined for any other text, and for a date that does not exist. */
export const readDay = (text: string): Day | undefined => {
  const [, year, month, day] = DATE.exec(text) ?? [];
  return year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day));
};

const padded = (value: number, digits = 2): string => String(value).padStart(digits, "0");

/** "2026-12-25". */
export const dayText = (day: Day): string => {
  const { year, month, day: ofMonth } = dateOf(day);
  return `${padded(year, 4)}-${padded(month)}-${padded(ofMonth)}`;
};

/** "08:30" of minutes since midnight. */
export const clockText = (minutes: number): string =>
  `${padded(Math.floor(minutes / 60))}:${padded(minutes % 60)}`;

/** An instant in UTC, to the second: 2026-01-05T09:03:31Z. */
export const utcText = (atMs: number): string => {
  const seconds = Math.floor(atMs / SECOND_MS);
  const day = Math.floor(seconds / DAY_SECONDS);
  const ofDay = seconds - day * DAY_SECONDS;
  return `${dayText(day)}T${clockText(Math.floor(ofDay / 60))}:${padded(ofDay % 60)}Z`;
};

/** The units of Go's `time.ParseDuration`, and days and weeks of 24 hours each. */
const UNIT_MS: Readonly<Record<string, number>> = {
  w: 7 * DAY_MS,
  d: DAY_MS,
  h: HOUR_MS,
  m: MINUTE_MS,
  s: SECOND_MS,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const DURATION = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ms|us|µs|ns|[wdhms]))+$/;
const PART = /([\d.]+)([a-zµ]+)/g;

/**
 * Milliseconds of "90s", "1m30s", "1.5h", "7d" or "0"; undefined for any other text. All durations
 * of people and servers are read here.
 */
export const readDuration = (text: string): number | undefined => {
  if (text === "0") return 0;
  if (!DURATION.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? Number.NaN),
    0,
  );
};
