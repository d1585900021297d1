const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (ageMs: number, unit: number, name: string, below: number, nameBelow: string): string => {
  const rest = Math.floor((ageMs % unit) / below);
  return `${Math.floor(ageMs / unit)}${name}${rest === 0 ? "" : `${rest}${nameBelow}`}`;
};

/** Formats an age with at most two units: "45s", "3m20s", "5h", "2d4h". A negative age (a clock that went back) reads "0s". */
export const ageText = (ageMs: number): string => {
  if (ageMs < 2 * MINUTE) return `${Math.max(0, Math.floor(ageMs / SECOND))}s`;
  if (ageMs < 10 * MINUTE) return two(ageMs, MINUTE, "m", SECOND, "s");
  if (ageMs < 3 * HOUR) return `${Math.floor(ageMs / MINUTE)}m`;
  if (ageMs < 8 * HOUR) return two(ageMs, HOUR, "h", MINUTE, "m");
  if (ageMs < 2 * DAY) return `${Math.floor(ageMs / HOUR)}h`;
  if (ageMs < 8 * DAY) return two(ageMs, DAY, "d", HOUR, "h");
  return `${Math.floor(ageMs / DAY)}d`;
};

/** Formats the time until an instant: "in 2m10s", or "now" after it. */
export const untilText = (untilMs: number, nowMs: number): string => (untilMs <= nowMs ? "now" : `in ${ageText(untilMs - nowMs)}`);
