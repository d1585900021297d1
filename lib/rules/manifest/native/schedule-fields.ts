import {
  choice,
  flag,
  group,
  integer,
  listField,
  type ReadOf,
  words,
} from "../../fields/field-types.ts";
import { type Json, present } from "../../model/json.ts";
import { WEEKDAYS } from "../../model/time-text.ts";
import { CALENDAR_NAME, DATES_MAX, ENTRIES_MAX, RAMP_MINUTES_MAX } from "../../model/schedule.ts";
import { ZONE_NAME } from "../../model/time-zone.ts";

const MOST_PRIORITY = 1_000;
/** As for `rules: native`; the other forms have no more pods either where people schedule them. */
const MOST_PODS = 1_000_000;

const WEEKDAY = `(${WEEKDAYS.join("|")})`;
const DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
/** A weekday, a range of weekdays, or the nth of a month. */
const DAYS = {
  pattern: `^(${WEEKDAY}(-${WEEKDAY})?|-?[1-5]${WEEKDAY})$`,
  detail: "must be a weekday",
  fix: "write one such as Mon, Mon-Fri, 1Mon or -1Fri",
};
/** A date, or the first and the last one of a range. */
export const DATES = {
  pattern: `^${DATE}(/${DATE})?$`,
  detail: "must be a date with its year",
  fix: "write it like 2026-12-24, or 2026-12-24/2026-12-31",
};
const FROM = {
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
  detail: "must be a time of day",
  fix: "write it like 08:00",
};
const TO = {
  pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
  detail: "must be a time of day, or 24:00",
  fix: "write it like 17:30",
};
const CALENDAR = {
  pattern: CALENDAR_NAME,
  detail: "must be the name of a calendar: small letters, digits and -",
  fix: "tidemark calendar list has the names",
};

const minutes = (meaning: string) =>
  integer(meaning, { default: 0, least: 0, most: RAMP_MINUTES_MAX });

/** The fields of one entry of a schedule. schedule-rules.ts has the rules between them. */
export const ENTRY_FIELDS = {
  name: words("Unique name of the entry.", { required: true }),
  timeZone: words("The area whose clock counts, such as Europe/Berlin; Etc/UTC for UTC.", {
    required: true,
    form: { pattern: ZONE_NAME },
  }),
  days: listField(
    "Days on which a window starts: Mon to Sun, ranges such as Mon-Fri, and the nth of a month, such as 1Mon or -1Fri for the last Friday. By default every day.",
    words("One of them.", { required: true, form: DAYS }),
    "",
    { leastItems: 1 },
  ),
  dates: listField(
    `Dates on which a window starts, or ranges of them: 2026-12-24, 2026-12-24/2026-12-31. At most ${DATES_MAX}.`,
    words("One of them.", { required: true, form: DATES }),
    "",
    { leastItems: 1, mostItems: DATES_MAX },
  ),
  from: words("When a window starts: HH:MM.", { default: "00:00", form: FROM }),
  to: words("When it ends: HH:MM, or 24:00. A time at or before from is on the next day.", {
    default: "24:00",
    form: TO,
  }),
  toDay: choice("The weekday on which it ends, for windows over several days.", WEEKDAYS),
  except: listField(
    `Dates on which no window starts, or ranges of them. At most ${DATES_MAX}.`,
    words("One of them.", { required: true, form: DATES }),
    "",
    { mostItems: DATES_MAX },
  ),
  exceptFrom: words(
    "The name of a calendar of the fleet (tidemark calendar), with further dates on which no window starts.",
    {
      form: CALENDAR,
    },
  ),
  minReplicas: integer("Fewest pods inside a window, also for an idle workload.", {
    least: 1,
    most: MOST_PODS,
  }),
  maxReplicas: integer("Most pods inside a window.", { least: 1, most: MOST_PODS }),
  paused: flag("True: nothing is written inside a window."),
  rampMinutes: group("How long the bounds take to change.", {
    in: minutes(
      "The floor climbs in a line for so long before a window, so that it is full when the window starts.",
    ),
    out: minutes("Floor and ceiling fall in a line for so long after a window."),
  }),
  priority: integer("Of the entries that set a field, those with the highest priority count.", {
    default: 0,
    least: -MOST_PRIORITY,
    most: MOST_PRIORITY,
  }),
  suspended: flag("True: the entry is kept, and sets nothing."),
} as const;

export const SCHEDULE = listField(
  `Other bounds at certain times, with any rules. At most ${ENTRIES_MAX} entries.`,
  group("One entry.", ENTRY_FIELDS),
  { name: "", timeZone: "", from: "00:00", to: "24:00", priority: 0 },
  { mostItems: ENTRIES_MAX, key: "name" },
);

export type EntryRead = ReadOf<typeof ENTRY_FIELDS>;

/** The entries as they read back: in the order of the reference, and without what says nothing. */
export const storedSchedule = (entries: readonly EntryRead[]): readonly Json[] =>
  entries.map((entry) => {
    const kept: Json = {
      ...entry,
      priority: entry.priority || undefined,
      suspended: entry.suspended || undefined,
    };
    return present(Object.fromEntries(Object.keys(ENTRY_FIELDS).map((name) => [name, kept[name]])));
  });
