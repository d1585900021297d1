const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The units of Go's `time.ParseDuration`, and days and weeks of 24 hours each. */
const UNIT_MS: Readonly<Record<string, number>> = {
  w: 7 * DAY_MS,
  d: DAY_MS,
  h: HOUR_MS,
  m: MINUTE_MS,
  s: SECOND_MS,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const DURATION = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ms|us|µs|ns|[wdhms]))+$/;
const PART = /([\d.]+)([a-zµ]+)/g;

/** Milliseconds of "90s", "1m30s", "1.5h", "7d" or "0"; undefined for any other text. All durations of people and servers are read here. */
export const readDuration = (text: string): number | undefined => {
  if (text === "0") return 0;
  if (!DURATION.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? Number.NaN), 0);
};
