import type {
  BoundsChangeView,
  ClockChangeView,
  ScheduleLaneView,
  ScheduleView,
} from "../views/schedule.ts";
import { boundByText } from "./bounds-words.ts";

/** For example `minReplicas 10 by the schedule "office", maxReplicas 40 by the manifest`. */
export const boundsNowText = ({
  min,
  max,
  paused,
  holds = [],
}: Pick<ScheduleView, "min" | "max" | "paused" | "holds">): string =>
  [
    `minReplicas ${min.replicas} ${boundByText(min.by)}`,
    `maxReplicas ${max.replicas} ${boundByText(max.by)}`,
    ...(paused ? [`paused ${boundByText(paused)}`] : []),
    ...holds.map((hold) => `held ${boundByText(hold)}`),
  ].join(", ");

/**
 * What a change of the bounds comes to: the entries and overrides behind it; the manifest only
 * where there is none. `timeText` says when a ramp ends.
 */
export const boundsChangeText = (
  { min, max, paused, holds = [], climbsTo, climbsUntil }: BoundsChangeView,
  timeText: (at: string) => string,
): string => {
  if (climbsTo !== undefined && climbsUntil !== undefined)
    return `the floor climbs to ${climbsTo} until ${timeText(climbsUntil)}`;
  const named = [
    ...(min.by.kind !== "manifest" ? [`min ${boundByText(min.by)}`] : []),
    ...(max.by.kind !== "manifest" ? [`max ${boundByText(max.by)}`] : []),
    ...(paused ? [`paused ${boundByText(paused)}`] : []),
    ...holds.map((hold) => `held ${boundByText(hold)}`),
  ];
  return named.length === 0 ? boundByText({ kind: "manifest" }) : named.join(", ");
};

/** What a missing calendar means for the autoscaler, and what to do. */
export const missingCalendarText = (name: string): string =>
  `there is no calendar "${name}", so that the autoscaler holds, and dates of the calendar are shown as ordinary days; run tidemark calendar put ${name} -f FILE`;

/** For example `the clock of Europe/Berlin goes from +01:00 to +02:00`. */
export const clockChangeText = ({ timeZone, before, after }: ClockChangeView): string =>
  `the clock of ${timeZone} goes from ${before} to ${after}`;

/** Why a window of an entry is not there. */
export const leftOutText = (entry: string, exceptedBy: string): string =>
  exceptedBy === "except"
    ? `the window of "${entry}" is left out: the entry excepts its date`
    : `the window of "${entry}" is left out: the calendar ${exceptedBy} has its date`;

/** What an entry sets, for example `min 10, max 40`. */
export const entryText = ({
  minReplicas,
  maxReplicas,
  paused,
  suspended,
}: Omit<ScheduleLaneView, "name" | "timeZone" | "windows">): string =>
  [
    ...(paused ? ["pauses"] : []),
    ...(minReplicas === undefined ? [] : [`min ${minReplicas}`]),
    ...(maxReplicas === undefined ? [] : [`max ${maxReplicas}`]),
    ...(suspended ? ["suspended"] : []),
  ].join(", ");
