import { forbidden, invalid, type Problem, required, type Warning } from "../../fields/problem.ts";
import { WEEKDAYS } from "../../model/calendar-day.ts";
import { CALENDAR_NAME, type DayRange, readRange, type ScheduleEntry, type StartDays, type WeekdayRule } from "../../model/schedule.ts";
import { zoneProblem } from "../../model/time-zone.ts";
import type { Rule } from "./paired-rule.ts";
import { DATES_TEXT, DAYS_TEXT, type EntryRead, FROM_TEXT, TO_TEXT } from "./schedule-fields.ts";
import { anyOf, areAbsent, ifThen, isSet, members } from "./schema-conditions.ts";
import { shortWindow } from "./direction-warnings.ts";
import type { SpecRead } from "./spec-fields.ts";

const MINUTE_MS = 60_000;

const knownZone: Rule<EntryRead> = {
  problems: ({ timeZone }, { path }) => {
    const problem = timeZone ? zoneProblem(timeZone) : undefined;
    return problem ? [invalid(`${path}.timeZone`, problem.detail, problem.fix)] : [];
  },
};

const someDays: Rule<EntryRead> = {
  says: "days and dates have at least one",
  schema: members({ days: { minItems: 1 }, dates: { minItems: 1 } }),
  problems: (entry, { path }) =>
    (["days", "dates"] as const).flatMap((field) =>
      entry[field]?.length === 0 ? [invalid(`${path}.${field}`, "must have at least one", "remove it for every day")] : [],
    ),
};

const daysOrDates: Rule<EntryRead> = {
  says: "either days or dates, not both",
  schema: ifThen(isSet("days"), areAbsent("dates")),
  problems: ({ days, dates }, { path }) =>
    days && dates ? [forbidden(`${path}.dates`, "may not be set together with days", "write two entries, or keep one of the fields")] : [],
};

const setsSomething: Rule<EntryRead> = {
  says: "an entry sets minReplicas, maxReplicas or paused",
  schema: anyOf(isSet("minReplicas"), isSet("maxReplicas"), isSet("paused")),
  problems: ({ minReplicas, maxReplicas, paused }, { path }) =>
    minReplicas === undefined && maxReplicas === undefined && paused === undefined
      ? [required(path, "an entry sets minReplicas, maxReplicas or paused", "write what holds inside its windows")]
      : [],
};

/** The form of a text, and how it is written. */
interface Form {
  readonly pattern: string;
  readonly detail: string;
  readonly fix: string;
}

const CLOCK = { detail: "must be a time of day", fix: "write it like 08:00" };
const FORMS = {
  from: { pattern: FROM_TEXT, ...CLOCK },
  to: { pattern: TO_TEXT, detail: "must be a time of day, or 24:00", fix: "write it like 17:30" },
  days: { pattern: DAYS_TEXT, detail: "must be a weekday", fix: "write one such as Mon, Mon-Fri, 1Mon or -1Fri" },
  exceptFrom: {
    pattern: CALENDAR_NAME,
    detail: "must be the name of a calendar: small letters, digits and -",
    fix: "tidemark calendar list has the names",
  },
  dates: { pattern: DATES_TEXT, detail: "must be a date with its year", fix: "write it like 2026-12-24, or 2026-12-24/2026-12-31" },
} as const satisfies Readonly<Record<string, Form>>;

const badText = (text: string, path: string, { pattern, detail, fix }: Form): readonly Problem[] =>
  new RegExp(pattern).test(text) ? [] : [invalid(path, detail, fix)];

const texts: Rule<EntryRead> = {
  problems: ({ from, to, days = [], exceptFrom }, { path }) => [
    ...badText(from, `${path}.from`, FORMS.from),
    ...badText(to, `${path}.to`, FORMS.to),
    ...(exceptFrom === undefined ? [] : badText(exceptFrom, `${path}.exceptFrom`, FORMS.exceptFrom)),
    ...days.flatMap((day, index) => badText(day, `${path}.days[${index}]`, FORMS.days)),
  ],
};

const dates: Rule<EntryRead> = {
  problems: (entry, { path }) =>
    (["dates", "except"] as const).flatMap((field) =>
      (entry[field] ?? []).flatMap((text, index) => dateProblems(text, `${path}.${field}[${index}]`)),
    ),
};

const dateProblems = (text: string, path: string): readonly Problem[] => {
  const wrong = badText(text, path, FORMS.dates);
  if (wrong.length > 0) return wrong;
  const range = readRange(text);
  if (!range) return [invalid(path, "must be a date that exists", FORMS.dates.fix)];
  return range.last < range.first ? [invalid(path, "must not end before it begins", "write the earlier date first")] : [];
};

/** Rules of one entry. */
export const ENTRY_RULES: readonly Rule<EntryRead>[] = [knownZone, someDays, daysOrDates, setsSomething, texts, dates];

const uniqueNames: Rule<SpecRead> = {
  problems: ({ schedule = [] }) =>
    schedule.flatMap(({ name }, index) =>
      name && schedule.findIndex((other) => other.name === name) !== index
        ? [invalid(`spec.schedule[${index}].name`, `must be unique: "${name}" is the name of another entry`, "give this entry a name of its own")]
        : [],
    ),
};

/** Rules of a spec between its entries. */
export const SCHEDULE_RULES: readonly Rule<SpecRead>[] = [uniqueNames];

/** Warnings that need no look at the calendar. */
export const scheduleWarnings = ({ schedule = [] }: SpecRead, syncPeriodSeconds: number): readonly Warning[] =>
  schedule.flatMap(({ minReplicas, maxReplicas, rampMinutes, paused }, index) => {
    const path = `spec.schedule[${index}]`;
    const ramps = (["in", "out"] as const).flatMap((way) =>
      shortWindow(`${path}.rampMinutes.${way}`, (rampMinutes?.[way] ?? 0) * 60, syncPeriodSeconds),
    );
    const without = rampMinutes && minReplicas === undefined && maxReplicas === undefined;
    return [
      ...ramps,
      ...(minReplicas !== undefined && maxReplicas !== undefined && minReplicas > maxReplicas
        ? [
            {
              field: `${path}.maxReplicas`,
              message: `it is below minReplicas, so that ${minReplicas} counts for both`,
              fix: `write ${minReplicas} or more`,
            },
          ]
        : []),
      ...(without ? [{ field: `${path}.rampMinutes`, message: "without minReplicas or maxReplicas it has no effect", fix: "remove it" }] : []),
      ...(paused === false
        ? [{ field: `${path}.paused`, message: "false sets nothing: an entry cannot end the pause of another one", fix: "remove it" }]
        : []),
    ];
  });

/** The entries of a valid spec. */
export const scheduleOf = ({ schedule = [] }: Pick<SpecRead, "schedule">): readonly ScheduleEntry[] => schedule.map(entryOf);

const entryOf = (read: EntryRead): ScheduleEntry => ({
  name: read.name ?? "",
  timeZone: read.timeZone ?? "",
  on: startDaysOf(read),
  fromMinute: minuteOf(read.from),
  toMinute: minuteOf(read.to),
  ...(read.toDay && { toWeekday: WEEKDAYS.indexOf(read.toDay) }),
  except: rangesOf(read.except),
  ...(read.exceptFrom && { exceptFrom: read.exceptFrom }),
  ...(read.minReplicas !== undefined && { minReplicas: read.minReplicas }),
  ...(read.maxReplicas !== undefined && { maxReplicas: read.maxReplicas }),
  ...(read.paused && { paused: true }),
  rampInMs: (read.rampMinutes?.in ?? 0) * MINUTE_MS,
  rampOutMs: (read.rampMinutes?.out ?? 0) * MINUTE_MS,
  priority: read.priority,
  suspended: read.suspended ?? false,
});

const startDaysOf = ({ days, dates: written }: EntryRead): StartDays => {
  if (written) return { kind: "dates", dates: rangesOf(written) };
  return { kind: "weekdays", weekdays: days ? days.flatMap(weekdaysOf) : WEEKDAYS.map((_, weekday) => ({ weekday })) };
};

const NAMES: readonly string[] = WEEKDAYS;
const indexOf = (name: string): number => NAMES.indexOf(name);

/** The weekdays of "Mon", "1Mon", "-1Fri" and "Fri-Mon". */
const weekdaysOf = (text: string): readonly WeekdayRule[] => {
  const [, nth = "", first = "", last = first] = /^(-?[1-5]?)([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))?$/.exec(text) ?? [];
  const from = indexOf(first);
  if (nth !== "") return [{ weekday: from, nth: Number(nth) }];
  const days = ((indexOf(last) - from + 7) % 7) + 1;
  return Array.from({ length: days }, (_, after) => ({ weekday: (from + after) % 7 }));
};

const rangesOf = (written: readonly string[] = []): readonly DayRange[] => written.flatMap((text) => readRange(text) ?? []);

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return hours * 60 + minutes;
};
