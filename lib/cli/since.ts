import { readDuration } from "../model/duration.ts";
import { LATEST_MS, readInstant } from "../model/instant.ts";
import { usage } from "./usage.ts";

const WANTED = 'wanted a duration such as "90s", "1h30m" or "7d", or a time such as "2026-03-01T12:00:00Z"';

const timeText = (ms: number): string => new Date(ms).toISOString();

/** RFC 3339 also allows small letters, and a blank in the place of the T. */
const instantMs = (text: string): number | undefined => readInstant(text.replace(/(?<=^\S{10}) /, "T").toUpperCase());

/** `direction`: -1 where a duration reaches back from now, 1 where it reaches ahead. */
const atMs = (option: string, text: string, nowMs: number, direction: 1 | -1): number => {
  const duration = readDuration(text);
  const instant = duration === undefined ? instantMs(text) : nowMs + direction * Math.round(duration);
  if (instant === undefined) throw usage(`Cannot read ${option} "${text}": ${WANTED}`);
  // A time that cannot be written down cannot be shown or stored either.
  if (instant < 0) throw usage(`Cannot use ${option} "${text}": the earliest time is ${timeText(0)}`);
  if (instant > LATEST_MS) throw usage(`Cannot use ${option} "${text}": the latest time is ${timeText(LATEST_MS)}`);
  return instant;
};

/** An instant in the past: that long before now, or the RFC 3339 time itself, which must have come. Throws a usage error that names the option. */
export const pastMs = (option: string, text: string, nowMs: number): number => {
  const instant = atMs(option, text, nowMs, -1);
  if (instant > nowMs) throw usage(`Cannot use ${option} "${text}": it is only ${timeText(nowMs)} now`);
  return instant;
};

/** An instant in the future: that long after now, or the RFC 3339 time itself, which must not have passed. Throws a usage error that names the option. */
export const futureMs = (option: string, text: string, nowMs: number): number => {
  const instant = atMs(option, text, nowMs, 1);
  if (instant <= nowMs) throw usage(`Cannot use ${option} "${text}": it is ${timeText(nowMs)} already`);
  return instant;
};

const SECOND_MS = 1_000;

/** A length of time, by default of at least one second. How long it may be is known by what it is for (lib/service/clusters/cluster-edits.ts). */
export const lengthMs = (option: string, text: string, leastMs = SECOND_MS): number => {
  const length = readDuration(text);
  if (length === undefined || length < leastMs) {
    throw usage(
      `Cannot read ${option} "${text}": wanted a duration${leastMs > 0 ? ` of at least ${leastMs / SECOND_MS}s` : ""}, such as "15s" or "1m30s"`,
    );
  }
  return Math.round(length);
};
