const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Unit {
  readonly ms: number;
  readonly name: string;
}

const UNITS = { second: { ms: SECOND, name: "s" }, minute: { ms: MINUTE, name: "m" }, hour: { ms: HOUR, name: "h" }, day: { ms: DAY, name: "d" } };

const inTwoUnits = (ageMs: number, large: Unit, small: Unit): string => {
  const rest = Math.floor((ageMs % large.ms) / small.ms);
  return `${Math.floor(ageMs / large.ms)}${large.name}${rest === 0 ? "" : `${rest}${small.name}`}`;
};

/** Formats an age with at most two units: "45s", "3m20s", "5h", "2d4h". A negative age (a clock that went back) reads "0s". */
export const ageText = (ageMs: number): string => {
  if (ageMs < 2 * MINUTE) return `${Math.max(0, Math.floor(ageMs / SECOND))}s`;
  if (ageMs < 10 * MINUTE) return inTwoUnits(ageMs, UNITS.minute, UNITS.second);
  if (ageMs < 3 * HOUR) return `${Math.floor(ageMs / MINUTE)}m`;
  if (ageMs < 8 * HOUR) return inTwoUnits(ageMs, UNITS.hour, UNITS.minute);
  if (ageMs < 2 * DAY) return `${Math.floor(ageMs / HOUR)}h`;
  if (ageMs < 8 * DAY) return inTwoUnits(ageMs, UNITS.day, UNITS.hour);
  return `${Math.floor(ageMs / DAY)}d`;
};

/** Formats the time until an instant: "in 2m10s", or "now" after it. */
export const untilText = (untilMs: number, nowMs: number): string => (untilMs <= nowMs ? "now" : `in ${ageText(untilMs - nowMs)}`);
