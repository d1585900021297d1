const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const PERIODS_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  sec: SECOND_MS,
  second: SECOND_MS,
  m: MINUTE_MS,
  min: MINUTE_MS,
  minute: MINUTE_MS,
  h: HOUR_MS,
  hour: HOUR_MS,
};
const RATE = /^(.+?) per (?:(\d+) )?(s|sec|second|m|min|minute|h|hour)s?\b/;

/**
 * What a load was over a time, as people count it: of "HTTP requests per minute (sum)" so many HTTP requests. A unit that is no rate ("percent CPU") cannot be counted: there it is so many hours
 * at one of it. `samples`: values × time ÷ distance of two samples, as the simulated workloads sum it up.
 */
export const amountText = (samples: number, unit: string, stepMs: number): string => {
  const [, noun, times = "1", period = ""] = RATE.exec(unit) ?? [];
  const periodMs = (PERIODS_MS[period] ?? 0) * Number(times);
  if (noun === undefined || periodMs === 0) return `${((samples * stepMs) / HOUR_MS).toFixed(1)} hours × ${unit}`;
  return `${Math.round((samples * stepMs) / periodMs)} ${noun}`;
};
