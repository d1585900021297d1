import { asObject, type Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { clockText, WEEKDAYS } from "../../../model/time-text.ts";

/** An entry of a schedule, as a manifest has it. */
export type Entry = Json & { readonly name: string; readonly timeZone: string };

/** The autoscalers that a timed object is for. */
export type TimedFor =
  | {
      readonly kind: "workload";
      readonly namespace: string;
      readonly workload: string;
      readonly name: string;
    }
  | { readonly kind: "autoscaler"; readonly namespace: string; readonly name: string }
  /** `except`: workloads as "Deployment/web". */
  | { readonly kind: "namespace"; readonly namespace: string; readonly except: readonly string[] }
  /** Nothing in the object names one. */
  | { readonly kind: "only one" };

/** What becomes of a timed object: entries of a schedule, and what they do not say. */
export interface Timed {
  readonly for: TimedFor;
  readonly entries: readonly Entry[];
  /** Entries that ask for a least count within the bounds of the autoscaler itself. */
  readonly floors?: readonly Entry[];
  readonly details: readonly Detail[];
}

/** The bounds that an autoscaler has outside of its schedule. */
export interface OwnBounds {
  readonly least: number;
  readonly most: number;
}

export const ownBoundsOf = (autoscaler: Json): OwnBounds => {
  const { minReplicas, maxReplicas } = asObject(autoscaler["spec"]);
  return { least: writtenCount(minReplicas) ?? 1, most: writtenCount(maxReplicas) ?? Infinity };
};

/**
 * An entry of a schedule replaces a bound, and would raise the ceiling with its floor. A metric
 * that asks for a count does neither.
 */
export const floorWithin = (floor: Entry, { least, most }: OwnBounds): Entry => ({
  ...floor,
  minReplicas: Math.min(most, Math.max(least, Number(floor["minReplicas"]))),
});

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
export const writtenCount = (value: unknown): number | undefined =>
  Number.isInteger(Number(value)) && value !== null && value !== "" && value !== undefined
    ? Number(value)
    : undefined;

export const writtenNamespace = (raw: Json): string =>
  textOf(asObject(raw["metadata"])["namespace"]) ?? "default";
export const writtenName = (raw: Json): string => textOf(asObject(raw["metadata"])["name"]) ?? "";

export const lost = (of: string, message: string): Detail => ({ of, severity: "lost", message });
export const changed = (of: string, message: string): Detail => ({
  of,
  severity: "changed",
  message,
});
export const withoutEffect = (of: string, message: string): Detail => ({
  of,
  severity: "without effect",
  message,
});
export const applying = (
  details: readonly (readonly [applies: boolean, detail: Detail])[],
): readonly Detail[] => details.flatMap(([applies, detail]) => (applies ? [detail] : []));

/** One entry for each window; the second and later ones have a number. */
export const entriesOf = (windows: readonly WeeklyWindow[], entry: Entry): readonly Entry[] =>
  windows.map((window, index) => ({
    ...entry,
    name: index === 0 ? entry.name : `${entry.name}-${index + 1}`,
    ...window,
  }));

export const isUnread = (value: object): value is Unread => "unread" in value;

/** Minutes since the beginning of Monday. */
export type WeekMinute = number;

const DAY = 1_440;
const WEEK = 7 * DAY;
/**
 * Windows of one source. A schedule has 64 entries, and a cron line that begins more often is no
 * schedule of a person.
 */
const WINDOWS_MAX = 32;

/** What is not carried over, in words. */
export interface Unread {
  readonly unread: string;
}

/** The days and times of an entry of a schedule: its fields `days`, `from`, `to` and `toDay`. */
interface WeeklyWindow {
  readonly days: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly toDay?: string;
}

/** A window that begins and ends once a week. */
export interface WeeklySpan {
  readonly start: WeekMinute;
  /** 1 minute to a week. */
  readonly minutes: number;
}

/** From each start to the next of the ends. */
export const spansBetween = (
  starts: readonly WeekMinute[],
  ends: readonly WeekMinute[],
): readonly WeeklySpan[] =>
  ends.length === 0
    ? []
    : starts.map((start) => ({
        start,
        minutes: Math.min(...ends.map((end) => (end - start + WEEK) % WEEK || WEEK)),
      }));

/**
 * Where a trigger cron of KEDA is active: while the next instant of both lines is an end (its
 * scaler asks both lines for the next instant, and an end wins where both are the same).
 */
export const spansBeforeEnds = (
  starts: readonly WeekMinute[],
  ends: readonly WeekMinute[],
): readonly WeeklySpan[] => {
  const instants = [...new Set([...starts, ...ends])].toSorted((one, other) => one - other);
  const isEnd = new Set(ends);
  const before = (at: number): WeekMinute => instants.at(at - 1) ?? 0;
  const begins = instants.flatMap((instant, at) =>
    isEnd.has(instant) && !isEnd.has(before(at)) ? [before(at)] : [],
  );
  if (begins.length === 0) return ends.length === 0 ? [] : [{ start: 0, minutes: WEEK }];
  return begins.map((start) => ({ start, minutes: minutesOfEnds(start, instants, isEnd) }));
};

/** From a start over all ends that follow before the next start. */
const minutesOfEnds = (
  start: WeekMinute,
  instants: readonly WeekMinute[],
  isEnd: ReadonlySet<WeekMinute>,
): number => {
  const ahead = instants
    .map((instant) => ({
      isEnd: isEnd.has(instant),
      minutes: (instant - start + WEEK) % WEEK || WEEK,
    }))
    .toSorted((one, other) => one.minutes - other.minutes);
  const next = ahead.findIndex((instant) => !instant.isEnd);
  return ahead.slice(0, next).at(-1)?.minutes ?? 0;
};

/** The spans as entries: one for all days with the same times. */
export const weeklyWindows = (spans: readonly WeeklySpan[]): readonly WeeklyWindow[] | Unread => {
  const groups = Map.groupBy(spans, ({ start, minutes }) =>
    JSON.stringify(timesOf(start, start + minutes)),
  );
  if (groups.size > WINDOWS_MAX)
    return {
      unread: `it has ${groups.size} different windows a week, and at most ${WINDOWS_MAX} are carried over`,
    };
  return [...groups].map(([times, of]) => ({
    days: daysText(of.map(({ start }) => Math.floor(start / DAY))),
    ...(JSON.parse(times) as Omit<WeeklyWindow, "days">),
  }));
};

/**
 * `toDay` only where the end is neither on the day of the start nor, at or before its time, on the
 * next.
 */
const timesOf = (start: WeekMinute, end: WeekMinute): Omit<WeeklyWindow, "days"> => {
  const [from, to] = [start % DAY, end % DAY];
  const ahead = Math.floor(end / DAY) - Math.floor(start / DAY);
  const isPlain = to > from ? ahead === 0 : ahead === 1;
  return {
    from: clockText(from),
    to: clockText(to),
    ...(!isPlain && { toDay: WEEKDAYS[Math.floor(end / DAY) % 7] }),
  };
};

/** Three and more days in a row are a range. */
const daysText = (days: readonly number[]): readonly string[] => {
  const sorted = [...new Set(days)].toSorted((one, other) => one - other);
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)];
  const isRow = sorted.length > 2 && last - first === sorted.length - 1;
  return isRow
    ? [`${WEEKDAYS[first]}-${WEEKDAYS[last]}`]
    : sorted.map((day) => WEEKDAYS[day] ?? "");
};

export const atTime = (weekdays: readonly number[], minute: number): readonly WeekMinute[] =>
  weekdays.map((day) => day * DAY + minute);

/** Minutes since midnight of "08:30" and "24:00". */
export const minuteOfDay = (clock: string): number | undefined => {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})(?::00)?$/.exec(clock) ?? [];
  const minute = Number(hours) * 60 + Number(minutes);
  return hours !== undefined && Number(minutes) < 60 && minute <= DAY ? minute : undefined;
};

/** Weekdays of "Mon", "Mon-Fri" and "Fri-Mon", 0 for Monday; in any case of letters. */
export const weekdaysIn = (text: string): readonly number[] | undefined => {
  const [first, last = first, ...more] = text
    .split("-")
    .map((name) =>
      WEEKDAYS.findIndex((day) => day.toLowerCase() === name.trim().slice(0, 3).toLowerCase()),
    );
  if (first === undefined || last === undefined || first < 0 || last < 0 || more.length > 0)
    return undefined;
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, after) => (first + after) % 7);
};

const MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
};

/**
 * When a cron line fires in a week. A line that names days of a month or months is not read: no
 * entry repeats so.
 */
export const cronTimes = (line: string, sunday: 0 | 1 = 0): readonly WeekMinute[] | Unread => {
  const fields = (MACROS[line.trim()] ?? line).trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "*", ...more] = fields;
  if (fields.length < 5 || more.length > 0)
    return { unread: `"${line}" is no cron line of five fields` };
  if (![dayOfMonth, month].every((field) => field === "*" || field === "?"))
    return { unread: `"${line}" names days of a month or months; write an entry with dates` };
  const days = numbersIn(named(dayOfWeek, sunday), { least: 0, most: 7 })?.map(
    (day) => (day - sunday + 6) % 7,
  );
  const [minutes, hours] = [
    numbersIn(minute, { least: 0, most: 59 }),
    numbersIn(hour, { least: 0, most: 23 }),
  ];
  if (!days || !minutes || !hours) return { unread: `"${line}" cannot be read` };
  return [...new Set(days)].flatMap((day) =>
    hours.flatMap((at) => minutes.map((past) => day * DAY + at * 60 + past)),
  );
};

const SUNDAY_FIRST = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const named = (field: string, sunday: 0 | 1): string =>
  field
    .toUpperCase()
    .replace(/[A-Z]{3}/g, (name) =>
      SUNDAY_FIRST.includes(name) ? String(SUNDAY_FIRST.indexOf(name) + sunday) : name,
    );

interface Range {
  readonly least: number;
  readonly most: number;
}

const PART = /^(?:([*?])|(\d+)(?:-(\d+))?)(?:\/([1-9]\d*))?$/;

/** The numbers of a field: `*`, `5`, `1-5`, a step after a slash, and lists of these. */
const numbersIn = (field: string, range: Range): readonly number[] | undefined => {
  const parts = field.split(",").map((part) => {
    const [whole, all, from, to, step] = PART.exec(part) ?? [];
    if (whole === undefined) return undefined;
    return all === undefined
      ? stepsOf({ least: Number(from), most: lastOf({ from, to, step }, range) }, range, step)
      : stepsOf(range, range, step);
  });
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
};

/** A number with a step goes on to the end of its range. */
const lastOf = (
  { from, to, step }: { readonly [K in "from" | "to" | "step"]: string | undefined },
  { most }: Range,
): number => Number(to ?? (step === undefined ? from : most));

const stepsOf = (
  { least, most }: Range,
  allowed: Range,
  step = "1",
): readonly number[] | undefined =>
  least < allowed.least || most > allowed.most || most < least
    ? undefined
    : Array.from(
        { length: Math.floor((most - least) / Number(step)) + 1 },
        (_, after) => least + after * Number(step),
      );
