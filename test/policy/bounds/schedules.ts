import { readDay, WEEKDAYS } from "../../../lib/rules/model/time-text.ts";
import type { Override, OverrideScope, ScopedOverride } from "../../../lib/rules/model/override.ts";
import type { DayRange, ScheduleEntry, WeekdayRule } from "../../../lib/rules/model/schedule.ts";

const minute = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return hours * 60 + minutes;
};

const weekdayRule = (text: string): WeekdayRule => {
  const nth = Number(text.slice(0, -3));
  return {
    weekday: WEEKDAYS.indexOf(text.slice(-3) as (typeof WEEKDAYS)[number]),
    ...(nth !== 0 && { nth }),
  };
};

const range = (text: string): DayRange => {
  const [first = "", last = first] = text.split("/");
  return { first: readDay(first) ?? Number.NaN, last: readDay(last) ?? Number.NaN };
};

type Wanted = Partial<
  Omit<ScheduleEntry, "on" | "fromMinute" | "toMinute" | "toWeekday" | "except">
> & {
  readonly days?: string;
  readonly dates?: string;
  readonly from?: string;
  readonly to?: string;
  readonly toDay?: string;
  readonly except?: string;
};

const EVERY_DAY = WEEKDAYS.join(" ");

/**
 * An entry in the words of a manifest; every day from 08:00 to 17:00 in Berlin, where nothing else
 * is said.
 */
export const entry = ({
  days = EVERY_DAY,
  dates,
  from = "08:00",
  to = "17:00",
  toDay,
  except = "",
  ...rest
}: Wanted = {}): ScheduleEntry => ({
  name: "office",
  timeZone: "Europe/Berlin",
  on:
    dates === undefined
      ? { kind: "weekdays", weekdays: days.split(" ").map(weekdayRule) }
      : { kind: "dates", dates: dates.split(" ").map(range) },
  fromMinute: minute(from),
  toMinute: minute(to),
  ...(toDay !== undefined && { toWeekday: weekdayRule(toDay).weekday }),
  except: except === "" ? [] : except.split(" ").map(range),
  rampInMs: 0,
  rampOutMs: 0,
  priority: 0,
  suspended: false,
  ...rest,
});

export const override = (
  scope: OverrideScope,
  set: Override["set"],
  more: Partial<Override> = {},
): ScopedOverride => ({
  id: "o1",
  scope,
  set,
  fromMs: 0,
  untilMs: Number.MAX_SAFE_INTEGER,
  reason: "an incident",
  by: "anna",
  atMs: 0,
  ...more,
});
