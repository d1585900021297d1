import { readDuration, readInstant, MINUTE_MS } from "../../rules/model/time-text.ts";

/**
 * Minutes that the time zone of this process is ahead of UTC at an instant. `TZ`, and `--utc` of a
 * command, choose the zone.
 */
const aheadMinutes = (ms: number): number => -new Date(ms).getTimezoneOffset();

const localIso = (ms: number): string => new Date(ms + aheadMinutes(ms) * MINUTE_MS).toISOString();

const twoDigits = (value: number): string => String(value).padStart(2, "0");

const offsetText = (minutes: number): string => {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
};

/**
 * An instant as every text for people says it, and as every option reads it:
 * `2026-01-05T14:03:16+01:00`, or with `Z` where the time zone is UTC. Documents say it in UTC with
 * milliseconds.
 */
export const instantText = (ms: number): string =>
  `${localIso(ms).slice(0, 19)}${offsetText(aheadMinutes(ms))}`;

/**
 * The same without what a reader of now knows: `14:03:16` on the same day, `2026-01-04T14:03:16` on
 * another one. Options that take a time read both.
 */
export const shortInstantText = (ms: number, nowMs: number): string => {
  const text = localIso(ms);
  return text.slice(0, 10) === localIso(nowMs).slice(0, 10)
    ? text.slice(11, 19)
    : text.slice(0, 19);
};

/**
 * An instant on the axis of a drawing: `14:03`, or `01-05 14:03` where the axis is longer than a
 * day.
 */
export const axisText = (ms: number, { withDay }: { readonly withDay: boolean }): string =>
  localIso(ms)
    .slice(withDay ? 5 : 11, 16)
    .replace("T", " ");

const UTC_INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

const inText = (text: string): string =>
  text.replace(UTC_INSTANT, (instant) => {
    const ms = Date.parse(instant);
    return Number.isNaN(ms) ? instant : instantText(ms);
  });

/**
 * A text, or a document that a text for people is made of, with every UTC instant as `instantText`
 * says it, also inside its sentences.
 */
export const withLocalTimes = <Value>(value: Value): Value => localised(value) as Value;

const localised = (value: unknown): unknown => {
  if (typeof value === "string") return inText(value);
  if (Array.isArray(value)) return value.map(localised);
  // What is printed already is no plain object, and stays.
  if (
    typeof value !== "object" ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, localised(each)]));
};

/**
 * Runs work in the time zone UTC, as `TZ=UTC` before a command does: what is printed and what is
 * read. The zone of the process is restored.
 */
export const inUtc = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const before = process.env["TZ"];
  process.env["TZ"] = "UTC";
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
};

/** Where a time is looked for: the newest one that has come, or the next one to come. */
export type TimeDirection = "past" | "future";

const WEEKDAYS = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;
const RELATIVE_DAYS: ReadonlyMap<string, number> = new Map([
  ["yesterday", -1],
  ["today", 0],
  ["tomorrow", 1],
]);

const TEXT =
  /^(?:(?<day>[a-z]+|\d{4}-\d{2}-\d{2}))?(?:(?:^|[ T])(?<hour>\d{1,2}):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?)?$/i;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const MIDNIGHT: TimeOfDay = { hour: 0, minute: 0, second: 0 };
const DAYS_A_WEEK = 7;

/** RFC 3339 also allows small letters, and a blank instead of the T. */
const instantMs = (text: string): number | undefined =>
  readInstant(text.replace(/(?<=^\S{10}) /, "T").toUpperCase());

/** A duration from now, or an RFC 3339 time. */
export const readExactTime = (
  text: string,
  nowMs: number,
  direction: TimeDirection,
): number | undefined => {
  const duration = readDuration(text);
  if (duration === undefined) return instantMs(text);
  return direction === "past" ? nowMs - Math.round(duration) : nowMs + Math.round(duration);
};

/**
 * Milliseconds of "monday", "yesterday", "09:00", "2026-01-05" or a day with a time, in the time
 * zone of this machine; undefined for any other text. A day without a time begins at midnight. A
 * weekday and a time without a day are the newest that have come, or the next to come.
 */
export const readEverydayTime = (
  text: string,
  nowMs: number,
  direction: TimeDirection,
): number | undefined => {
  const { day, hour, minute, second } = TEXT.exec(text.trim())?.groups ?? {};
  if (day === undefined && hour === undefined) return undefined;
  const time =
    hour === undefined
      ? MIDNIGHT
      : { hour: Number(hour), minute: Number(minute), second: Number(second ?? "0") };
  if (time.hour > 23) return undefined;
  if (day === undefined) return nearest(time, 1, { nowMs, direction, fromDay: 0 });
  return onDay(day.toLowerCase(), time, { nowMs, direction });
};

interface Now {
  readonly nowMs: number;
  readonly direction: TimeDirection;
}

const onDay = (day: string, time: TimeOfDay, { nowMs, direction }: Now): number | undefined => {
  const date = DATE.exec(day);
  if (date) return onDate(Number(date[1]), Number(date[2]), Number(date[3]), time);
  const offset = RELATIVE_DAYS.get(day);
  if (offset !== undefined) return atDay(nowMs, offset, time);
  const weekday = WEEKDAYS.findIndex((name) => name === day || name.slice(0, 3) === day);
  if (weekday < 0) return undefined;
  return nearest(time, DAYS_A_WEEK, {
    nowMs,
    direction,
    fromDay: weekday - new Date(nowMs).getDay(),
  });
};

/** Undefined where the month has no such day. */
const onDate = (
  year: number,
  month: number,
  day: number,
  { hour, minute, second }: TimeOfDay,
): number | undefined => {
  const date = new Date(year, month - 1, day, hour, minute, second);
  // Without this line the year 26 would be 1926.
  date.setFullYear(year);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : undefined;
};

/** The calendar of the machine counts the days, so that a day of 23 or 25 hours is one. */
const atDay = (nowMs: number, offset: number, { hour, minute, second }: TimeOfDay): number => {
  const now = new Date(nowMs);
  return new Date(
    now.getFullYear(),
    now.getMonth(),
    now.getDate() + offset,
    hour,
    minute,
    second,
  ).getTime();
};

/** Of the times that come every so many days, the newest that has come or the next to come. */
const nearest = (
  time: TimeOfDay,
  everyDays: number,
  { nowMs, direction, fromDay }: Now & { readonly fromDay: number },
): number | undefined => {
  const all = [-1, 0, 1].map((turn) => atDay(nowMs, fromDay + turn * everyDays, time));
  return direction === "past" ? all.findLast((ms) => ms <= nowMs) : all.find((ms) => ms > nowMs);
};

/**
 * The same with the name of this machine's time zone: `2026-01-05T00:00:00+01:00 (Europe/Berlin)`.
 */
export const zonedText = (ms: number): string =>
  `${instantText(ms)} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
