import type { Decision, Hold, Limit } from "../model/decision.ts";
import type { CommonSpec } from "../model/spec-common.ts";
import { sourceText } from "./bounds/within-bounds.ts";

/** Until when the manifest pauses its autoscaler; `undefined` where it does not, or no more. */
export const pausedUntil = (
  { pausedUntilMs = Number.NEGATIVE_INFINITY }: CommonSpec,
  nowMs: number,
): number | undefined => (nowMs < pausedUntilMs ? pausedUntilMs : undefined);

/**
 * The last word, whatever rules decided: a pause until an instant, a hold by an override, a
 * calendar that is not there, a pause of the schedule, then a dry run. The decision stays to be
 * seen, nothing is written. Every other decision passes.
 */
export const overridden = (decision: Decision, governed: CommonSpec, nowMs: number): Decision => {
  if (decision.kind === "hold") return keptByHold(decision);
  const { to, trigger, ruled: _not, ...rest } = decision;
  const limit = stopOf(decision, governed, nowMs);
  if (!limit) return decision;
  const message = `${limit.message}, the count would be ${to}`;
  return {
    ...rest,
    kind: "hold",
    failed: limit.reason === UNKNOWN_CALENDAR,
    because: { reason: limit.reason, message: `${trigger}: ${message}` },
    steps: [
      ...rest.steps,
      {
        step: "override",
        before: to,
        after: rest.from,
        limit: { ...limit, value: rest.from, message },
      },
    ],
  };
};

const stopOf = (
  { bounds }: Decision,
  governed: CommonSpec,
  nowMs: number,
): Omit<Limit, "value"> | undefined => {
  const untilMs = pausedUntil(governed, nowMs);
  if (untilMs !== undefined)
    return { reason: "Paused", message: "paused by the manifest", untilMs };
  const held = holdOf(bounds) ?? unknownOf(bounds);
  if (held) return held;
  const paused = bounds?.paused;
  if (paused)
    return {
      reason: "PausedBySchedule",
      message: `paused by the schedule "${paused.name}"`,
      untilMs: paused.untilMs,
    };
  return governed.dryRun ? { reason: "DryRun", message: "dry run" } : undefined;
};

const holdOf = (bounds: Decision["bounds"]): Omit<Limit, "value"> | undefined => {
  const hold = bounds?.holds[0];
  return (
    hold && {
      reason: "HeldByOverride",
      message: `held ${sourceText(hold)}`,
      ...(hold.untilMs !== undefined && { untilMs: hold.untilMs }),
    }
  );
};

/**
 * On doubt, hold: without the calendar it is not known whether a floor, a ceiling or a pause is
 * meant for today.
 */
const unknownOf = (bounds: Decision["bounds"]): Omit<Limit, "value"> | undefined => {
  const unknown = bounds?.unknownCalendar;
  return (
    unknown && {
      reason: UNKNOWN_CALENDAR,
      message: `its bounds are not known, because ${unknown.field} names "${unknown.name}" and there is no such calendar`,
    }
  );
};

const UNKNOWN_CALENDAR = "UnknownCalendar";

/**
 * Rules that keep the count are held all the same: tables and charts then show the hold for as long
 * as it lasts. A failure stays to be seen, behind a calendar that is not there too.
 */
const keptByHold = (decision: Hold): Hold => {
  const held =
    (decision.failed ? undefined : holdOf(decision.bounds)) ?? unknownOf(decision.bounds);
  if (!held) return decision;
  const because = {
    reason: held.reason,
    message: `${held.message}; without it: ${decision.because.message}`,
  };
  return { ...decision, because, failed: held.reason === UNKNOWN_CALENDAR };
};
