import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../rules/model/time-text.ts";

type Unit = readonly [ms: number, name: string];

const inTwoUnits = (ageMs: number, [largeMs, large]: Unit, [smallMs, small]: Unit): string => {
  const rest = Math.floor((ageMs % largeMs) / smallMs);
  return `${Math.floor(ageMs / largeMs)}${large}${rest === 0 ? "" : `${rest}${small}`}`;
};

/**
 * Formats an age with at most two units: "45s", "3m20s", "5h", "2d4h". A negative age (a clock that
 * went back) reads "0s".
 */
export const ageText = (ageMs: number): string => {
  if (ageMs < 2 * MINUTE_MS) return `${Math.max(0, Math.floor(ageMs / SECOND_MS))}s`;
  if (ageMs < 10 * MINUTE_MS) return inTwoUnits(ageMs, [MINUTE_MS, "m"], [SECOND_MS, "s"]);
  if (ageMs < 3 * HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)}m`;
  if (ageMs < 8 * HOUR_MS) return inTwoUnits(ageMs, [HOUR_MS, "h"], [MINUTE_MS, "m"]);
  if (ageMs < 2 * DAY_MS) return `${Math.floor(ageMs / HOUR_MS)}h`;
  if (ageMs < 8 * DAY_MS) return inTwoUnits(ageMs, [DAY_MS, "d"], [HOUR_MS, "h"]);
  return `${Math.floor(ageMs / DAY_MS)}d`;
};

/** Formats the time until an instant: "in 2m10s", or "now" after it. */
export const untilText = (untilMs: number, nowMs: number): string =>
  untilMs <= nowMs ? "now" : `in ${ageText(untilMs - nowMs)}`;
