import { TidemarkError } from "../../rules/model/errors.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { type SyncMessage, isStale } from "./message.ts";
import { dueTimes, type PlannedTime } from "./due-times.ts";
import { SECOND_MS, MINUTE_MS } from "../../rules/model/time-text.ts";

/**
 * The scheduler may call up to a minute late, and a message must be sent before it is due. So each
 * call plans two minutes ahead.
 */
const MINUTES_AHEAD = 2;
/** Longest delay of a message (SQS: 15 minutes). */
export const DELAY_SECONDS_MAX = 900;

/** Input of the scheduler's call. */
export interface Tick {
  readonly scheduledMs: number;
}

/**
 * The begins of the minutes that a call of the scheduler plans. The last one is its own: it begins
 * two minutes after the *scheduled* time, cut to the minute. The own clock is not used, so that a
 * late or repeated call has the same. The two minutes before it belong to the calls before; they
 * are planned too where no mark says that a call has planned them.
 */
export const minutesOfCall = ({ scheduledMs }: Tick): readonly [number, number, number] => {
  const minuteMs = Math.floor(scheduledMs / MINUTE_MS) * MINUTE_MS;
  return [minuteMs, minuteMs + MINUTE_MS, minuteMs + MINUTES_AHEAD * MINUTE_MS];
};

/**
 * A scheduler calls at or after the scheduled time. A time further ahead than this cannot be a
 * difference of clocks.
 */
const TICK_AHEAD_MAX_MS = MINUTE_MS;

/**
 * Throws `plan.ahead` for a tick from the future. Its messages would come up to 15 minutes too
 * early, and stop their partitions until they are due.
 */
export const mustBePresent = ({ scheduledMs }: Tick, clockMs: number): void => {
  if (scheduledMs <= clockMs + TICK_AHEAD_MAX_MS) return;
  const [scheduled, now] = [scheduledMs, clockMs].map((ms) => new Date(ms).toISOString());
  throw new TidemarkError(
    "plan.ahead",
    `Cannot plan the minute after ${scheduled}: it is ${now}, and no call is scheduled for the future`,
    {
      scheduled,
      now,
    },
  );
};

/**
 * A tick may read a cluster a minute late, and plans a minute that begins two minutes ahead. So the
 * ticks of this time may have planned without a recent edit.
 */
const RECENT_MS = (MINUTES_AHEAD + 1) * MINUTE_MS;

/**
 * True for a cluster that was added or divided within the last minutes. A call of the scheduler
 * plans all its minutes for it, whatever their marks say. Otherwise its new partitions would have
 * no due time for two to three minutes. The claim refuses what was planned already.
 */
export const isJustChanged = (
  { plannedFromMs = 0 }: Pick<ClusterRecord, "plannedFromMs">,
  { scheduledMs }: Tick,
): boolean => plannedFromMs > scheduledMs - RECENT_MS;

type Planned = Pick<ClusterRecord, "name" | "partitions" | "syncPeriodMs">;

/**
 * Every sync of a cluster that is due in the planned time. Paused clusters are planned too: their
 * syncs settle open intents, and say why they hold.
 */
export const planCluster = (
  { name, partitions, syncPeriodMs }: Planned,
  planned: PlannedTime,
): readonly SyncMessage[] =>
  partitions.flatMap((partition) =>
    dueTimes(name, partition.name, syncPeriodMs, planned).map((dueMs) => ({
      cluster: name,
      partition: partition.name,
      dueMs,
      periodMs: syncPeriodMs,
    })),
  );

/**
 * Whole seconds from now until a message is due, rounded up so that a sync never runs early;
 * `undefined` when the message is too old to be sent.
 */
export const delaySeconds = (message: SyncMessage, clockMs: number): number | undefined =>
  isStale(message, clockMs)
    ? undefined
    : Math.min(DELAY_SECONDS_MAX, Math.max(0, Math.ceil((message.dueMs - clockMs) / SECOND_MS)));
