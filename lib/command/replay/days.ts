import { rfc3339 } from "../../answers/service/times.ts";
import type { TimeSpan } from "../../replay/figures.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { usage } from "../usage-error.ts";

/** What `--days` says: so many days are reported on, after so many that are tuned on. */
export interface AskedDays {
  readonly tunedMs: number;
  readonly reportedMs: number;
}

const DAYS = /^(?:([1-9]\d{0,2})\+)?([1-9]\d{0,2})$/;

/** Reads `7+7`, and `7` where the days before need no number. Throws a usage error. */
export const readDays = (text: string): AskedDays => {
  const [, tuned = "0", reported] = DAYS.exec(text.trim()) ?? [];
  if (reported === undefined)
    throw usage(
      `Cannot read --days "${text}": give a number of days such as 7, or two numbers such as 7+7`,
    );
  return { tunedMs: Number(tuned) * DAY_MS, reportedMs: Number(reported) * DAY_MS };
};

/** Reads `7+7`: a search needs days to tune on. Throws a usage error. */
export const readTunedDays = (text: string): AskedDays => {
  const days = readDays(text);
  if (days.tunedMs > 0) return days;
  throw usage(
    `Cannot use --days "${text}" here: give two numbers, the days to tune on and the days to report on, such as 7+7`,
  );
};

/** The warm-up of a load, and the hour in which a run began, may be missing of the last day. */
const MISSING_MS = DAY_MS / 8;

/**
 * The last days of a time, and those before them. Throws a usage error where fewer days are known.
 */
export const partedByDays = (
  { fromMs, untilMs }: TimeSpan,
  days: string,
): { readonly tuned: TimeSpan; readonly reported: TimeSpan } => {
  const { tunedMs, reportedMs } = readDays(days);
  const lengthMs = untilMs - fromMs;
  if (tunedMs + reportedMs > lengthMs + MISSING_MS)
    throw usage(
      `Cannot use --days "${days}": ${ageText(lengthMs)} are known, from ${rfc3339(fromMs)} on; give fewer days`,
    );
  const partMs = Math.max(fromMs, untilMs - reportedMs);
  return {
    tuned: { fromMs: Math.max(fromMs, partMs - tunedMs), untilMs: partMs },
    reported: { fromMs: partMs, untilMs },
  };
};

/** What a report counts: the whole time, or the last days of it. */
export const countedDays = (counted: TimeSpan, days: string | undefined): TimeSpan =>
  days === undefined ? counted : partedByDays(counted, days).reported;

/** How long a history is that has these days. */
export const lengthOfDays = (days: string): number => {
  const { tunedMs, reportedMs } = readDays(days);
  return tunedMs + reportedMs;
};
