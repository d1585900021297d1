import type { PartitionName } from "../../rules/model/ids.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import type { HeadGlance } from "../store/head/head.ts";
import { type Undecided, undecidedSince } from "../store/head/undecided.ts";
import { countDueTimes } from "./due-times.ts";

/** Of the syncs that were due in a time, how many there were and how many decided nothing. */
export interface Share {
  readonly due: number;
  readonly undecided: number;
}

/** The times that a share is counted over. The longest begins at a whole hour. */
const WINDOWS = {
  quarter: { ms: 15 * MINUTE_MS, by: "minutes", stepMs: MINUTE_MS },
  hour: { ms: HOUR_MS, by: "minutes", stepMs: MINUTE_MS },
  day: { ms: DAY_MS, by: "hours", stepMs: HOUR_MS },
} as const;
export type Shares = Readonly<Record<keyof typeof WINDOWS, Share>> & {
  /** The most that decided nothing in any quarter of the last hour. */
  readonly worstQuarter: number;
};

type Planned = Pick<ClusterRecord, "name" | "syncPeriodMs" | "plannedFromMs">;

/** A cluster that was just added or divided has its first sync within this time. */
const FIRST_SYNC_MS = 3 * MINUTE_MS;

/**
 * What a partition was owed and what it got: the due times follow from the period, those that
 * decided nothing stand in its head, and what is due for longer than a period and not done counts
 * as not decided. Counted from the last edit of the period or of the partitions on.
 */
export const sharesOf = (
  cluster: Planned,
  partition: PartitionName,
  head: Pick<HeadGlance, "dueDoneMs" | "troubles"> | undefined,
  nowMs: number,
): Shares => {
  const { name, syncPeriodMs, plannedFromMs = 0 } = cluster;
  const doneMs = head?.dueDoneMs ?? 0;
  const startMs = doneMs === 0 ? plannedFromMs + FIRST_SYNC_MS : plannedFromMs;
  const untilMs = Math.max(doneMs + 1, nowMs - syncPeriodMs);
  const dueIn = (fromMs: number): number =>
    countDueTimes(name, partition, syncPeriodMs, { fromMs, untilMs });
  const shareIn = ({ ms, by, stepMs }: (typeof WINDOWS)[keyof typeof WINDOWS]): Share => {
    const fromMs = Math.ceil((nowMs - ms) / stepMs) * stepMs;
    const due = dueIn(Math.max(fromMs, startMs));
    const open = dueIn(Math.max(fromMs, startMs, doneMs + syncPeriodMs));
    const stored = undecidedSince(head?.troubles.undecided, by, Math.max(fromMs, plannedFromMs));
    return { due, undecided: Math.min(due, stored + open) };
  };
  const quarter = shareIn(WINDOWS.quarter);
  return {
    quarter,
    hour: shareIn(WINDOWS.hour),
    day: shareIn(WINDOWS.day),
    worstQuarter: Math.max(
      quarter.undecided,
      worstIn(head?.troubles.undecided, Math.max(nowMs - HOUR_MS, plannedFromMs)),
    ),
  };
};

const QUARTER_MINUTES = WINDOWS.quarter.ms / MINUTE_MS;

/** The most in any quarter of an hour from a time on, each ending with a due sync that is counted. */
const worstIn = (undecided: Undecided | undefined, fromMs: number): number => {
  const from = Math.ceil(fromMs / MINUTE_MS);
  const minutes = [...(undecided?.minutes ?? [])].filter(([at]) => at >= from);
  const endingAt = ([end]: readonly [number, number]): number =>
    minutes.reduce(
      (sum, [at, count]) => sum + (at <= end && at > end - QUARTER_MINUTES ? count : 0),
      0,
    );
  return Math.max(0, ...minutes.map(endingAt));
};

/** Of all partitions of a cluster, or of all clusters of a fleet. */
export const togetherOf = (shares: readonly Shares[]): Shares => {
  const sumOf = (window: keyof typeof WINDOWS): Share => ({
    due: shares.reduce((sum, { [window]: { due } }) => sum + due, 0),
    undecided: shares.reduce((sum, { [window]: { undecided } }) => sum + undecided, 0),
  });
  return {
    quarter: sumOf("quarter"),
    hour: sumOf("hour"),
    day: sumOf("day"),
    worstQuarter: shares.reduce((sum, { worstQuarter }) => sum + worstQuarter, 0),
  };
};

const TENTHS = 1_000;

/** The share that decided, in percent, rounded down so that 100 % is all; absent where none is due. */
export const percentOf = ({ due, undecided }: Share): number | undefined =>
  due === 0 ? undefined : Math.floor(((due - undecided) / due) * TENTHS) / 10;

/**
 * What wakes a person, by two windows as the SRE Workbook has it (chapter 5, multiwindow alerts).
 * Owed are 99 of 100 due syncs of a day, so that a day may have 14.4 minutes without decisions:
 *
 * - fast: a third of it in 15 minutes, which uses the day's part 33 times too fast;
 * - slow: 6 minutes in an hour, ten times too fast, of which 90 seconds are of the last 15 minutes.
 *
 * Counted in time and not as a share of what was due, so that a new cluster has as long as every
 * other: the time from the first of so many syncs to the last. One or two syncs of a long period
 * are never enough.
 */
const BURNS = {
  fast: { leastMs: 5 * MINUTE_MS, leastSyncs: 2 },
  slow: { leastMs: 6 * MINUTE_MS, leastSyncs: 4 },
} as const;
const RECENT_MS = 1.5 * MINUTE_MS;

export const isBurning = (shares: Shares, periodMs: number): boolean =>
  isFast(shares, periodMs) ||
  (hasBurned(shares, periodMs) && shares.quarter.undecided * periodMs >= RECENT_MS);

export const isFast = ({ quarter }: Shares, periodMs: number): boolean =>
  lasts(quarter, BURNS.fast, periodMs);

/**
 * True where the hour, or a quarter in it, has as much without decisions as wakes a person,
 * although the last minutes may have none: more of it is no news. A quarter of an hour has three
 * syncs of a period of five minutes, of which now one fails and now two.
 */
export const hasBurned = ({ hour, worstQuarter }: Shares, periodMs: number): boolean =>
  lasts(hour, BURNS.slow, periodMs) || lasts({ undecided: worstQuarter }, BURNS.fast, periodMs);

const lasts = (
  { undecided }: Pick<Share, "undecided">,
  { leastMs, leastSyncs }: (typeof BURNS)[keyof typeof BURNS],
  periodMs: number,
): boolean => undecided >= leastSyncs && (undecided - 1) * periodMs >= leastMs;

/**
 * True where one of the due syncs of the last minute or period decided nothing: a fault that has
 * ended raises no alarm.
 */
export const burnsNow = (
  { syncPeriodMs }: Pick<ClusterRecord, "syncPeriodMs">,
  { troubles: { undecided } }: Pick<HeadGlance, "troubles">,
  nowMs: number,
): boolean => {
  const fromMs = nowMs - Math.max(MINUTE_MS, syncPeriodMs);
  return undecidedSince(undecided, "minutes", fromMs) > 0;
};

/** When the first due sync of the last hour was that decided nothing. */
export const undecidedSinceMs = ({
  troubles: { undecided },
}: Pick<HeadGlance, "troubles">): number | undefined => {
  const minutes = [...(undecided?.minutes.keys() ?? [])];
  return minutes.length === 0 ? undefined : Math.min(...minutes) * MINUTE_MS;
};
