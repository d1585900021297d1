import { MINUTE_MS } from "../../../model/time-text.ts";
import { localText } from "../../../model/time-zone.ts";
import type { AutoscalerSpec } from "../../../model/spec.ts";
import { effectiveBounds } from "../../../policy/bounds/effective-bounds.ts";
import { type SourceRule, weekMinuteAt } from "./source-week.ts";
import type { OwnBounds } from "./timed.ts";

const WEEK_MINUTES = 7 * 1_440;

/** A stretch of minutes in which source and result have different bounds. */
export interface WeekDifference {
  /** "2026-11-30 08:00", on the clock of the source. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly minutes: number;
  readonly source: OwnBounds;
  readonly here: OwnBounds;
}

/** A minute in which the source sets a count that the bounds of the result do not allow. */
export interface CountDifference {
  readonly at: string;
  readonly timeZone: string;
  readonly source: number;
  /** The nearest count within the bounds of the result. */
  readonly here: number;
}

/** The outcome of one autoscaler. */
export interface WeekCheck {
  readonly minutes: number;
  readonly differences: readonly WeekDifference[];
  readonly counts: readonly CountDifference[];
}

/**
 * What all rules together set: the largest floor, the smallest ceiling that one of them changed,
 * and a floor counts before a ceiling.
 */
const sourceAt = (rules: readonly SourceRule[], own: OwnBounds, atMs: number): OwnBounds => {
  const set = rules.map(({ timeZone, boundsAt }) => boundsAt(weekMinuteAt(timeZone, atMs), own));
  const floors = set.map(({ least }) => least).filter((least) => least !== own.least);
  const ceilings = set.map(({ most }) => most).filter((most) => most !== own.most);
  const least = floors.length === 0 ? own.least : Math.max(...floors);
  const most = ceilings.length === 0 ? own.most : Math.max(...ceilings);
  return { least, most: Math.max(least, most) };
};

/** The counts that are set at this minute, and that the bounds of the result do not allow. */
const countsAt = (
  rules: readonly SourceRule[],
  { least, most }: OwnBounds,
  atMs: number,
): readonly CountDifference[] =>
  rules.flatMap(({ countAt, timeZone }) => {
    const source = countAt?.(weekMinuteAt(timeZone, atMs));
    if (source === undefined) return [];
    const here = Math.min(most, Math.max(least, source));
    return here === source ? [] : [{ at: localText(timeZone, atMs), timeZone, source, here }];
  });

/**
 * Replays the controllers of the source and the schedule of the result over the week that begins at
 * `fromMs`: the bounds at each minute, by the function that production decides by, and the counts
 * that the source sets once.
 */
export const checkWeek = ({ rules, own, spec }: CheckedSchedule, fromMs: number): WeekCheck => {
  const timeZone = rules[0]?.timeZone ?? "Etc/UTC";
  const differences: WeekDifference[] = [];
  const counts: CountDifference[] = [];
  for (let minute = 0; minute < WEEK_MINUTES; minute++) {
    const atMs = fromMs + minute * MINUTE_MS;
    const source = sourceAt(rules, own, atMs);
    const { min, max } = effectiveBounds(spec, { overrides: [], calendars: [] }, atMs);
    const here = { least: min.replicas, most: max.replicas };
    counts.push(...countsAt(rules, here, atMs));
    if (source.least === here.least && source.most === here.most) continue;
    const to = localText(timeZone, atMs + MINUTE_MS);
    const last = differences.at(-1);
    const from = localText(timeZone, atMs);
    const goesOn = last?.to === from && isSame(last.source, source) && isSame(last.here, here);
    if (goesOn) differences[differences.length - 1] = { ...last, to, minutes: last.minutes + 1 };
    else differences.push({ from, to, timeZone, minutes: 1, source, here });
  }
  const minutes = differences.reduce((sum, { minutes: long }) => sum + long, 0);
  return { minutes, differences, counts };
};

export interface CheckedSchedule {
  readonly rules: readonly SourceRule[];
  /** The bounds of the autoscaler outside of its schedule. */
  readonly own: OwnBounds;
  readonly spec: AutoscalerSpec;
}

const isSame = (one: OwnBounds, other: OwnBounds): boolean =>
  one.least === other.least && one.most === other.most;
