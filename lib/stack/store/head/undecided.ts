import * as z from "zod";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

/**
 * Due syncs of the last day that decided nothing: no sync came, the cluster could not be read, or
 * nothing in it could be evaluated. What was due follows from the period, so that a partition at
 * rest stores nothing.
 */
export interface Undecided {
  /** By the minute since 1970, of the last hour. */
  readonly minutes: ReadonlyMap<number, number>;
  /** By the hour since 1970, of the last day. */
  readonly hours: ReadonlyMap<number, number>;
}

/** The two sizes of a bucket, and how many of each are kept. */
const MINUTES_KEPT = HOUR_MS / MINUTE_MS;
const HOURS_KEPT = DAY_MS / HOUR_MS;

/** How far back the longest window looks: it begins at a whole hour. */
export const UNDECIDED_KEPT_MS = DAY_MS;

/** The same with the due times that were found undecided since; `undefined` where none is left. */
export const withUndecided = (
  before: Undecided | undefined,
  dueMs: readonly number[],
  nowMs: number,
): Undecided | undefined => {
  if (!before && dueMs.length === 0) return undefined;
  const minutes = counted(before?.minutes, dueMs, { sizeMs: MINUTE_MS, kept: MINUTES_KEPT, nowMs });
  const hours = counted(before?.hours, dueMs, { sizeMs: HOUR_MS, kept: HOURS_KEPT, nowMs });
  return hours.size === 0 ? undefined : { minutes, hours };
};

const counted = (
  before: ReadonlyMap<number, number> | undefined,
  dueMs: readonly number[],
  {
    sizeMs,
    kept,
    nowMs,
  }: { readonly sizeMs: number; readonly kept: number; readonly nowMs: number },
): ReadonlyMap<number, number> => {
  const oldest = Math.floor(nowMs / sizeMs) - kept;
  const counts = new Map([...(before ?? [])].filter(([at]) => at >= oldest));
  for (const ms of dueMs) {
    const at = Math.floor(ms / sizeMs);
    if (at >= oldest) counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  return counts;
};

/** How many of the due times from `fromMs` on, which begins a minute or an hour. */
export const undecidedSince = (
  undecided: Undecided | undefined,
  by: "minutes" | "hours",
  fromMs: number,
): number => {
  const from = Math.floor(fromMs / (by === "minutes" ? MINUTE_MS : HOUR_MS));
  return [...(undecided?.[by] ?? [])].reduce(
    (sum, [at, count]) => sum + (at >= from ? count : 0),
    0,
  );
};

export const storedUndecided = z.object({ m: z.string().default(""), h: z.string() });

const DIGITS = 36;
/** At the shortest period, 5 s, a minute has 12 due times. */
const COUNT_MOST = DIGITS - 1;

/*
 *  minutes  "hk3x2a:40044"     the first minute, and a digit for it and each later one
 *  hours    "8c1k:240,0,12"    the first hour, and the count of it and of each later one
 */
export const undecidedText = ({ minutes, hours }: Undecided): z.infer<typeof storedUndecided> => ({
  m: rowText(minutes, "", (count) => Math.min(count, COUNT_MOST).toString(DIGITS)),
  h: rowText(hours, ",", String),
});

const rowText = (
  counts: ReadonlyMap<number, number>,
  between: string,
  text: (count: number) => string,
): string => {
  if (counts.size === 0) return "";
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const row = Array.from({ length: last - first + 1 }, (_, at) =>
    text(counts.get(first + at) ?? 0),
  );
  return `${first.toString(DIGITS)}:${row.join(between)}`;
};

/** A text that says no counts says none: no scale depends on it. */
export const undecidedOf = ({ m, h }: z.infer<typeof storedUndecided>): Undecided | undefined => {
  const minutes = rowIn(m, "", DIGITS, MINUTES_KEPT);
  const hours = rowIn(h, ",", 10, HOURS_KEPT);
  return hours.size === 0 ? undefined : { minutes, hours };
};

const rowIn = (
  text: string,
  between: string,
  radix: number,
  kept: number,
): ReadonlyMap<number, number> => {
  const [start = "", row = ""] = text.split(":");
  const first = Number.parseInt(start, DIGITS);
  const counts = row.split(between).map((count) => Number.parseInt(count, radix));
  if (!Number.isSafeInteger(first) || counts.length > kept + 1 || counts.some(Number.isNaN))
    return new Map();
  return new Map(counts.flatMap((count, at) => (count > 0 ? [[first + at, count] as const] : [])));
};
