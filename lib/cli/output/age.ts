const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (ageMs: number, unit: number, name: string, below: number, nameBelow: string): string => {
  const rest = Math.floor((ageMs % unit) / below);
  return `${Math.floor(ageMs / unit)}${name}${rest === 0 ? "" : `${rest}${nameBelow}`}`;
};

/** An age as people read it, never more than two units: "45s", "3m20s", "5h", "2d4h". An age below zero (a clock that went back) reads "0s". */
export const ageText = (ageMs: number): string => {
  if (ageMs < 2 * MINUTE) return `${Math.max(0, Math.floor(ageMs / SECOND))}s`;
  if (ageMs < 10 * MINUTE) return two(ageMs, MINUTE, "m", SECOND, "s");
  if (ageMs < 3 * HOUR) return `${Math.floor(ageMs / MINUTE)}m`;
  if (ageMs < 8 * HOUR) return two(ageMs, HOUR, "h", MINUTE, "m");
  if (ageMs < 2 * DAY) return `${Math.floor(ageMs / HOUR)}h`;
  if (ageMs < 8 * DAY) return two(ageMs, DAY, "d", HOUR, "h");
  return `${Math.floor(ageMs / DAY)}d`;
};

/** Time left until an instant: "in 2m10s", or "now" once it is reached. */
export const untilText = (untilMs: number, nowMs: number): string => (untilMs <= nowMs ? "now" : `in ${ageText(untilMs - nowMs)}`);
