import { type Day, dayText, HOUR_MS } from "../../model/time-text.ts";
import type { Calendar, ScheduleEntry } from "../../model/schedule.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { localDay, localText } from "../../model/time-zone.ts";
import { effectiveBounds } from "./effective-bounds.ts";
import { daysLong, edgesOf, type ScheduleWindow, startsOn, windowsBetween } from "./windows.ts";
import { sourceText } from "./within-bounds.ts";
import type { EffectiveBounds, SetByPeople } from "../../model/override.ts";

/** How far ahead an apply looks: a year, and the weeks in which its dates may move. */
const OUTLOOK_DAYS = 400;
/** A window that began a week ago may last. */
const DAYS_BACK = 8;

/** What a schedule will come to, by the index of its entry. */
export interface OutlookFinding {
  readonly index: number;
  readonly message: string;
}

interface Outlook {
  /** Entries that never set anything. */
  readonly refused: readonly OutlookFinding[];
  readonly warnings: readonly OutlookFinding[];
}

/** An entry with its windows that have not ended. */
interface Ahead {
  readonly entry: ScheduleEntry;
  readonly index: number;
  readonly windows: readonly ScheduleWindow[];
  /** True where it has windows in the days that are looked at, ended ones too. */
  readonly hadWindows: boolean;
}

type Scheduled = Pick<AutoscalerSpec, "minReplicas" | "maxReplicas" | "schedule">;

/**
 * Looks 400 days ahead, and finds what its author would not expect. A suspended entry is not looked
 * at.
 */
export const outlookOf = (
  spec: Scheduled,
  calendars: readonly Calendar[],
  nowMs: number,
): Outlook => {
  const ahead = (spec.schedule ?? []).flatMap((entry, index): readonly Ahead[] => {
    if (entry.suspended) return [];
    const all = windowsBetween(entry, calendars, daysAhead(entry, nowMs));
    return [
      {
        entry,
        index,
        windows: all.filter(({ rampOutMs }) => rampOutMs > nowMs),
        hadWindows: all.length > 0,
      },
    ];
  });
  const without = ahead
    .filter(({ windows }) => windows.length === 0)
    .map((each) => ({ ...each, ...whyNever(each, nowMs) }));
  const overlaps = overlapsOf(ahead);
  const instants = [
    ...ahead.flatMap(({ windows }) => windows.slice(0, 1).map(({ startMs }) => startMs)),
    ...overlaps.map(({ fromMs }) => fromMs),
  ];
  return {
    refused: without
      .filter(({ refused }) => refused)
      .map(({ index, message }) => ({ index, message })),
    warnings: [
      ...without.flatMap(({ index, message, refused }) =>
        refused || message === "" ? [] : [{ index, message }],
      ),
      ...ahead.flatMap((each) => otherLengths(each, nowMs)),
      ...overlaps.flatMap(overlapWarning),
      ...crossedBounds(spec, calendars, { instants, ahead }),
    ],
  };
};

const daysAhead = (
  { timeZone }: ScheduleEntry,
  nowMs: number,
): { readonly firstDay: Day; readonly lastDay: Day } => {
  const today = localDay(timeZone, nowMs);
  return { firstDay: today - DAYS_BACK, lastDay: today + OUTLOOK_DAYS };
};

/**
 * Dates that are past were right once, and later ones will be: only what can never be is refused.
 */
const whyNever = (
  { entry, hadWindows }: Ahead,
  nowMs: number,
): { readonly message: string; readonly refused: boolean } => {
  const { firstDay, lastDay } = daysAhead(entry, nowMs);
  if (entry.on.kind === "dates") {
    const last = Math.max(...entry.on.dates.map((range) => range.last));
    if (last > lastDay) return { message: "", refused: false };
    // The last window may have ended earlier on the last date itself.
    if (hadWindows || last < lastDay - OUTLOOK_DAYS)
      return {
        message: "its dates are all past, so it sets nothing; remove it, or write later dates",
        refused: false,
      };
  }
  const days = Array.from(
    { length: lastDay - firstDay + 1 },
    (_, after) => firstDay + after,
  ).filter((day) => startsOn(entry, day));
  const why =
    days.length > 0
      ? "every window is excepted, or a change of the clock leaves it no time"
      : "no day is one of its days";
  return {
    message: `it has no window within ${OUTLOOK_DAYS} days: ${why}; check days, dates and except`,
    refused: true,
  };
};

/** The first window that is shorter or longer than its clock times say. */
const otherLengths = ({ entry, index }: Ahead, nowMs: number): readonly OutlookFinding[] => {
  const { firstDay, lastDay } = daysAhead(entry, nowMs);
  for (let day = firstDay + DAYS_BACK; day <= lastDay; day++) {
    if (!startsOn(entry, day)) continue;
    const { startMs, endMs } = edgesOf(entry, day);
    const hours = daysLong(entry, day) * 24 + (entry.toMinute - entry.fromMinute) / 60;
    const real = (endMs - startMs) / HOUR_MS;
    if (real === hours) continue;
    const words = real <= 0 ? "leaves it no time" : `makes it ${shown(real)} h long`;
    return [
      {
        index,
        message: `a change of the clock ${words}, not ${shown(hours)} h, in the window of ${dayText(day)}`,
      },
    ];
  }
  return [];
};

const shown = (hours: number): string => String(Number(hours.toFixed(2)));

interface Overlap {
  readonly one: Ahead;
  readonly other: Ahead;
  readonly fromMs: number;
}

/** The first instant at which two entries are both inside a window. */
const overlapsOf = (ahead: readonly Ahead[]): readonly Overlap[] =>
  ahead.flatMap((one, at) =>
    ahead.slice(at + 1).flatMap((other) => {
      const fromMs = firstOverlap(one.windows, other.windows);
      return fromMs === undefined ? [] : [{ one, other, fromMs }];
    }),
  );

const firstOverlap = (
  ones: readonly ScheduleWindow[],
  others: readonly ScheduleWindow[],
): number | undefined => {
  for (let [at, beside] = [0, 0]; ; ) {
    const [one, other] = [ones[at], others[beside]];
    if (!one || !other) return undefined;
    const fromMs = Math.max(one.startMs, other.startMs);
    if (fromMs < Math.min(one.endMs, other.endMs)) return fromMs;
    if (one.endMs <= other.endMs) at++;
    else beside++;
  }
};

const FIELDS = ["minReplicas", "maxReplicas"] as const;

const overlapWarning = ({ one, other, fromMs }: Overlap): readonly OutlookFinding[] => {
  if (one.entry.priority !== other.entry.priority) return [];
  return FIELDS.flatMap((field) => {
    const [value, beside] = [one.entry[field], other.entry[field]];
    if (value === undefined || beside === undefined || value === beside) return [];
    const at = localText(other.entry.timeZone, fromMs);
    const message = `it overlaps "${one.entry.name}" with equal priority, first at ${at}: the larger ${field}, ${Math.max(value, beside)}, counts; give one of them a higher priority`;
    return [{ index: other.index, message }];
  });
};

/** The first instant at which the floor of an entry is above the ceiling. */
const crossedBounds = (
  spec: Scheduled,
  calendars: readonly Calendar[],
  { instants, ahead }: { readonly instants: readonly number[]; readonly ahead: readonly Ahead[] },
): readonly OutlookFinding[] => {
  const found = new Map<number, OutlookFinding>();
  for (const nowMs of instants.toSorted((one, other) => one - other)) {
    const { min, max } = effectiveBounds(spec, { overrides: [], calendars }, nowMs);
    if (max.source.kind !== "floor") continue;
    const crossing = ahead.find(
      ({ entry, windows }) =>
        windows.some(({ startMs, endMs }) => startMs <= nowMs && nowMs < endMs) &&
        entry.paused === undefined,
    );
    const { index = 0, entry } =
      ahead.find(
        ({ entry: { name } }) => min.source.kind === "schedule" && name === min.source.name,
      ) ??
      crossing ??
      {};
    const at = entry ? localText(entry.timeZone, nowMs) : "";
    if (!found.has(index))
      found.set(index, {
        index,
        message: `at ${at} minReplicas is ${min.replicas} ${sourceText(min.source)}, above maxReplicas, so that ${min.replicas} counts for both; set both`,
      });
  }
  return [...found.values()];
};

/** An instant at which the bounds change, and those that follow. */
export interface BoundsChange {
  readonly atMs: number;
  /** The clock of the entry that begins or ends here. */
  readonly timeZone: string;
  readonly bounds: EffectiveBounds;
  /** A ramp begins here: the floor climbs to this count until then. */
  readonly climb?: { readonly to: number; readonly untilMs: number };
}

/**
 * The next changes of the bounds after an instant, at most `most` and within 400 days. A ramp is
 * one change where it begins, and one where it ends.
 */
export const changesAhead = (
  spec: Scheduled,
  people: SetByPeople,
  { fromMs, most }: { readonly fromMs: number; readonly most: number },
): readonly BoundsChange[] => {
  const changes: BoundsChange[] = [];
  let before = stateText(effectiveBounds(spec, people, fromMs));
  for (const { atMs, timeZone, startMs } of edgesAfter(spec, people, fromMs)) {
    const bounds = effectiveBounds(spec, people, atMs);
    const climb = startMs === undefined ? undefined : climbOf(spec, people, { atMs, startMs });
    const after = stateText(bounds);
    if (after !== before || climb)
      changes.push({ atMs, timeZone, bounds, ...(climb && { climb }) });
    if (changes.length >= most) break;
    before = after;
  }
  return changes;
};

const stateText = ({ min, max, paused, holds }: EffectiveBounds): string =>
  JSON.stringify([min, max, paused, holds]);

interface Edge {
  readonly atMs: number;
  readonly timeZone: string;
  /** Where a ramp begins: the start of its window. */
  readonly startMs?: number;
}

/**
 * The beginnings and ends of windows, ramps and overrides, each instant once, in order. A ramp that
 * begins goes before what else happens then.
 */
const edgesAfter = (
  { schedule = [] }: Scheduled,
  { calendars, overrides }: SetByPeople,
  fromMs: number,
): readonly Edge[] => {
  // An override has no zone: its instants are shown in the zone of the schedule.
  const timeZone = schedule[0]?.timeZone ?? "Etc/UTC";
  const edges: readonly Edge[] = [
    ...schedule.flatMap((entry): readonly Edge[] =>
      entry.suspended ? [] : edgesOfEntry(entry, calendars, fromMs),
    ),
    ...overrides.flatMap(({ fromMs: beginMs, untilMs }) =>
      [beginMs, ...(untilMs === undefined ? [] : [untilMs])].map((atMs) => ({ atMs, timeZone })),
    ),
  ];
  const ordered = edges
    .filter(({ atMs }) => atMs > fromMs)
    .toSorted((one, other) => one.atMs - other.atMs || (other.startMs ?? 0) - (one.startMs ?? 0));
  return ordered.filter(({ atMs }, index) => ordered[index - 1]?.atMs !== atMs);
};

const edgesOfEntry = (
  entry: ScheduleEntry,
  calendars: SetByPeople["calendars"],
  fromMs: number,
): readonly Edge[] => {
  const { timeZone } = entry;
  return windowsBetween(entry, calendars, daysAhead(entry, fromMs)).flatMap(
    ({ rampInMs, startMs, endMs, rampOutMs }): readonly Edge[] => [
      ...(rampInMs < startMs ? [{ atMs: rampInMs, timeZone, startMs }] : []),
      ...[startMs, endMs, rampOutMs].map((atMs) => ({ atMs, timeZone })),
    ],
  );
};

/** A ramp counts where the floor is on it shortly before its window starts. */
const climbOf = (
  spec: Scheduled,
  people: SetByPeople,
  { atMs, startMs }: { readonly atMs: number; readonly startMs: number },
): BoundsChange["climb"] => {
  const { source } = effectiveBounds(spec, people, Math.max(atMs, startMs - 1)).min;
  if (source.kind !== "schedule" || source.ramp !== "in") return undefined;
  return { to: effectiveBounds(spec, people, startMs).min.replicas, untilMs: startMs };
};
