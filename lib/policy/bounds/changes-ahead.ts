import type { EffectiveBounds, SetByPeople } from "../../model/bounds.ts";
import type { ScheduleEntry } from "../../model/schedule.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { localDay } from "../../model/time-zone.ts";
import { effectiveBounds } from "./effective-bounds.ts";
import { OUTLOOK_DAYS } from "./outlook.ts";
import { windowsBetween } from "./windows.ts";

/** An instant at which the bounds change, and those that follow. */
export interface BoundsChange {
  readonly atMs: number;
  /** The clock of the entry that begins or ends here. */
  readonly timeZone: string;
  readonly bounds: EffectiveBounds;
  /** A ramp begins here: the floor climbs to this count until then. */
  readonly climb?: { readonly to: number; readonly untilMs: number };
}

type Scheduled = Pick<AutoscalerSpec, "minReplicas" | "maxReplicas" | "schedule">;

/** The next changes of the bounds after an instant, at most `most` and within 400 days. A ramp is one change where it begins, and one where it ends. */
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
    if (after !== before || climb) changes.push({ atMs, timeZone, bounds, ...(climb && { climb }) });
    if (changes.length >= most) break;
    before = after;
  }
  return changes;
};

const stateText = ({ min, max, paused, holds }: EffectiveBounds): string => JSON.stringify([min, max, paused, holds]);

interface Edge {
  readonly atMs: number;
  readonly timeZone: string;
  /** Where a ramp begins: the start of its window. */
  readonly startMs?: number;
}

/** The beginnings and ends of windows, ramps and overrides, each instant once, in order. A ramp that begins goes before what else happens then. */
const edgesAfter = ({ schedule = [] }: Scheduled, { calendars, overrides }: SetByPeople, fromMs: number): readonly Edge[] => {
  // An override has no zone: its instants are shown in the zone of the schedule.
  const timeZone = schedule[0]?.timeZone ?? "Etc/UTC";
  const edges: readonly Edge[] = [
    ...schedule.flatMap((entry): readonly Edge[] => (entry.suspended ? [] : edgesOfEntry(entry, calendars, fromMs))),
    ...overrides.flatMap(({ fromMs: beginMs, untilMs }) =>
      [beginMs, ...(untilMs === undefined ? [] : [untilMs])].map((atMs) => ({ atMs, timeZone })),
    ),
  ];
  const ordered = edges
    .filter(({ atMs }) => atMs > fromMs)
    .toSorted((one, other) => one.atMs - other.atMs || (other.startMs ?? 0) - (one.startMs ?? 0));
  return ordered.filter(({ atMs }, index) => ordered[index - 1]?.atMs !== atMs);
};

const WEEK_AND_DAY = 8;

const edgesOfEntry = (entry: ScheduleEntry, calendars: SetByPeople["calendars"], fromMs: number): readonly Edge[] => {
  const { timeZone } = entry;
  const today = localDay(timeZone, fromMs);
  return windowsBetween(entry, calendars, { firstDay: today - WEEK_AND_DAY, lastDay: today + OUTLOOK_DAYS }).flatMap(
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
