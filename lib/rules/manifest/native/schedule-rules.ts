import { invalidField, type Problem, warnIf, type Warning } from "../../fields/problem.ts";
import { any, type Rule, isSet, unset } from "../../fields/rule.ts";
import { WEEKDAYS, MINUTE_MS } from "../../model/time-text.ts";
import {
  type DayRange,
  readRange,
  type ScheduleEntry,
  type StartDays,
  type WeekdayRule,
} from "../../model/schedule.ts";
import { zoneProblem } from "../../model/time-zone.ts";
import { shortWindow } from "./direction-warnings.ts";
import { DATES, type EntryRead } from "./schedule-fields.ts";
import type { SpecRead } from "./spec-fields.ts";
import { milliOf, type Quantity } from "../../model/quantity.ts";
import { present } from "../../model/json.ts";

export const ENTRY_RULES: readonly Rule[] = [
  {
    when: isSet("days"),
    needs: unset("dates"),
    detail: "may not be set together with days",
    fix: "write two entries, or keep one of the fields",
  },
  {
    needs: any(isSet("minReplicas"), isSet("maxReplicas"), isSet("paused")),
    type: "FieldValueRequired",
    detail: "an entry sets minReplicas, maxReplicas or paused",
    fix: "write what holds inside its windows",
  },
];

/** What no condition can say: which zones and dates there are. */
export const entryProblems = ({ schedule = [] }: SpecRead): readonly Problem[] =>
  schedule.flatMap((entry, index) => {
    const path = `spec.schedule[${index}]`;
    const zone = entry.timeZone ? zoneProblem(entry.timeZone) : undefined;
    return [
      ...(zone ? [invalidField(`${path}.timeZone`, zone.detail, zone.fix)] : []),
      ...(["dates", "except"] as const).flatMap((field) =>
        (entry[field] ?? []).flatMap((text, at) => dateProblems(text, `${path}.${field}[${at}]`)),
      ),
    ];
  });

const dateProblems = (text: string, path: string): readonly Problem[] => {
  if (!new RegExp(DATES.pattern).test(text)) return [];
  const range = readRange(text);
  if (!range) return [invalidField(path, "must be a date that exists", DATES.fix)];
  return range.last < range.first
    ? [invalidField(path, "must not end before it begins", "write the earlier date first")]
    : [];
};

/** So many pods more than minReplicas, and more than four times as many, are a fall to look at. */
const FALL_PODS = 10;
const FALL_TIMES = 4;

/**
 * The floor of an entry is no wish of the metrics, so that no window holds the count when it ends.
 * That stays the default: who asks for 50 pods until 20:00 does not want to pay for them until
 * 20:05.
 */
const fallsAtOnce = (
  floor: number | undefined,
  rampOut: number | undefined,
  { rules, minReplicas, scaleDown }: Pick<SpecRead, "rules" | "minReplicas" | "scaleDown">,
): boolean =>
  rules === "native" &&
  floor !== undefined &&
  (rampOut ?? 0) === 0 &&
  floor - minReplicas >= FALL_PODS &&
  floor > minReplicas * FALL_TIMES &&
  scaleDown.selectPolicy === "Max" &&
  scaleDown.policies.some(({ type, value }) => type === "Percent" && isAll(value));

const isAll = (value: Quantity | undefined): boolean =>
  value !== undefined && milliOf(value) >= 100_000n;

/** Warnings that need no look at the calendar. */
export const scheduleWarnings = (
  { schedule = [], ...spec }: SpecRead,
  syncPeriodSeconds: number,
): readonly Warning[] =>
  schedule.flatMap(({ minReplicas, maxReplicas, rampMinutes, paused }, index) => {
    const path = `spec.schedule[${index}]`;
    const ramps = (["in", "out"] as const).flatMap((way) =>
      shortWindow(`${path}.rampMinutes.${way}`, (rampMinutes?.[way] ?? 0) * 60, syncPeriodSeconds),
    );
    const isWithout =
      rampMinutes !== undefined && minReplicas === undefined && maxReplicas === undefined;
    return [
      ...ramps,
      ...warnIf(
        minReplicas !== undefined && maxReplicas !== undefined && minReplicas > maxReplicas,
        `${path}.maxReplicas`,
        `it is below minReplicas, so that ${minReplicas} counts for both`,
        `write ${minReplicas} or more`,
      ),
      ...warnIf(
        isWithout,
        `${path}.rampMinutes`,
        "without minReplicas or maxReplicas it has no effect",
        "remove it",
      ),
      ...warnIf(
        fallsAtOnce(minReplicas, rampMinutes?.out, spec),
        `${path}.minReplicas`,
        `when it ends, up to ${(minReplicas ?? 0) - spec.minReplicas} pods go in one sync where the metrics want so few: windows record what the metrics wanted, and no policy of scaleDown says less`,
        "write rampMinutes.out, or a policy of scaleDown",
      ),
      ...warnIf(
        paused === false,
        `${path}.paused`,
        "false sets nothing: an entry cannot end the pause of another one",
        "remove it",
      ),
    ];
  });

/** The entries of a valid spec. */
export const scheduleOf = ({
  schedule = [],
}: Pick<SpecRead, "schedule">): readonly ScheduleEntry[] => schedule.map(entryOf);

const entryOf = (read: EntryRead): ScheduleEntry => ({
  name: read.name ?? "",
  timeZone: read.timeZone ?? "",
  on: startDaysOf(read),
  fromMinute: minuteOf(read.from),
  toMinute: minuteOf(read.to),
  ...(read.toDay && { toWeekday: WEEKDAYS.indexOf(read.toDay) }),
  except: rangesOf(read.except),
  ...present({
    exceptFrom: read.exceptFrom || undefined,
    minReplicas: read.minReplicas,
    maxReplicas: read.maxReplicas,
    paused: read.paused || undefined,
  }),
  rampInMs: (read.rampMinutes?.in ?? 0) * MINUTE_MS,
  rampOutMs: (read.rampMinutes?.out ?? 0) * MINUTE_MS,
  priority: read.priority,
  suspended: read.suspended ?? false,
});

const startDaysOf = ({ days, dates: written }: EntryRead): StartDays => {
  if (written) return { kind: "dates", dates: rangesOf(written) };
  return {
    kind: "weekdays",
    weekdays: days ? days.flatMap(weekdaysOf) : WEEKDAYS.map((_, weekday) => ({ weekday })),
  };
};

const NAMES: readonly string[] = WEEKDAYS;
const indexOf = (name: string): number => NAMES.indexOf(name);

/** The weekdays of "Mon", "1Mon", "-1Fri" and "Fri-Mon". */
const weekdaysOf = (text: string): readonly WeekdayRule[] => {
  const [, nth = "", first = "", last = first] =
    /^(-?[1-5]?)([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))?$/.exec(text) ?? [];
  const from = indexOf(first);
  if (nth !== "") return [{ weekday: from, nth: Number(nth) }];
  const days = ((indexOf(last) - from + 7) % 7) + 1;
  return Array.from({ length: days }, (_, after) => ({ weekday: (from + after) % 7 }));
};

const rangesOf = (written: readonly string[] = []): readonly DayRange[] =>
  written.flatMap((text) => readRange(text) ?? []);

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return hours * 60 + minutes;
};
