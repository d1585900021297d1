import { present } from "../../rules/model/json.ts";
import { readDuration, LATEST_MS, SECOND_MS } from "../../rules/model/time-text.ts";
import {
  type TimeDirection,
  readEverydayTime,
  readExactTime,
  zonedText,
  instantText,
} from "../../stack/report/instant-text.ts";
import { usage } from "../usage-error.ts";

const WANTED =
  'give a duration such as "90s" or "7d", a time such as "2026-03-01T12:00:00Z", or "09:00", "monday", "yesterday 18:30" or "2026-03-01"';

/** Says which instant an everyday time was taken for. */
export type Note = (text: string) => void;

interface Reading {
  readonly nowMs: number;
  readonly direction: TimeDirection;
  readonly note: Note | undefined;
}

const atMs = (option: string, text: string, reading: Reading): number => {
  const instant =
    readExactTime(text, reading.nowMs, reading.direction) ?? everydayMs(option, text, reading);
  if (instant === undefined) throw usage(`Cannot read ${option} "${text}": ${WANTED}`);
  // A time out of this range cannot be shown or stored.
  if (instant < 0)
    throw usage(`Cannot use ${option} "${text}": the earliest time is ${instantText(0)}`);
  if (instant > LATEST_MS)
    throw usage(`Cannot use ${option} "${text}": the latest time is ${instantText(LATEST_MS)}`);
  return instant;
};

/** An everyday time depends on the time zone of the machine, so the instant is printed with it. */
const everydayMs = (
  option: string,
  text: string,
  { nowMs, direction, note }: Reading,
): number | undefined => {
  const instant = readEverydayTime(text, nowMs, direction);
  if (instant !== undefined) note?.(`${option} "${text}" is ${zonedText(instant)}`);
  return instant;
};

/**
 * An instant in the past: a duration before now, or a time that has come. Throws a usage error that
 * names the option.
 */
export const pastMs = (option: string, text: string, nowMs: number, note?: Note): number => {
  const instant = atMs(option, text, { nowMs, direction: "past", note });
  if (instant > nowMs)
    throw usage(
      `Cannot use ${option} "${text}": that is a future time; it is now ${instantText(nowMs)}`,
    );
  return instant;
};

/** A time of day to the second, with or without a zone. */
const WHOLE_SECOND = /\d:\d{2}:\d{2}(?:z|[+-]\d{2}:\d{2})?$/i;

/**
 * The last millisecond of an instant in the past. Texts say an instant to the second, so an option
 * that looks back from it takes the whole second: what happened in it must be found by the time
 * that was printed.
 */
export const pastEndMs = (option: string, text: string, nowMs: number, note?: Note): number => {
  const endMs = pastMs(option, text, nowMs, note);
  return WHOLE_SECOND.test(text.trim()) ? Math.min(nowMs, endMs + SECOND_MS - 1) : endMs;
};

/**
 * A future instant: a duration after now, or a time. Throws a usage error that names the option.
 */
export const futureMs = (option: string, text: string, nowMs: number, note?: Note): number => {
  const instant = atMs(option, text, { nowMs, direction: "future", note });
  if (instant <= nowMs)
    throw usage(
      `Cannot use ${option} "${text}": that time has passed; it is now ${instantText(nowMs)}`,
    );
  return instant;
};

/**
 * A duration, by default of at least one second. The service checks its limit
 * (lib/answers/service/clusters/connection-check.ts).
 */
export const lengthMs = (option: string, text: string, leastMs = SECOND_MS): number => {
  const length = readDuration(text);
  if (length === undefined || length < leastMs) {
    throw usage(
      `Cannot read ${option} "${text}": give a duration${leastMs > 0 ? ` of at least ${leastMs / SECOND_MS}s` : ""}, such as "15s" or "1m30s"`,
    );
  }
  return Math.round(length);
};

/**
 * The time range of a list. Throws a usage error for a future time, and for a range that ends
 * before it begins.
 */
export const rangeMs = (
  { since, until }: { readonly since?: string; readonly until?: string },
  nowMs: number,
  note: Note,
): { readonly sinceMs?: number; readonly untilMs?: number } => {
  const sinceMs = since === undefined ? undefined : pastMs("--since", since, nowMs, note);
  const untilMs = until === undefined ? undefined : pastEndMs("--until", until, nowMs, note);
  if (sinceMs !== undefined && untilMs !== undefined && untilMs < sinceMs)
    throw usage(
      `Cannot use --until "${until}" with --since "${since}": ${instantText(untilMs)} is before ${instantText(sinceMs)}`,
    );
  return present({ sinceMs, untilMs });
};
