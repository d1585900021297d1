import { readDuration } from "../model/duration.ts";
import { LATEST_MS, readInstant } from "../model/instant.ts";
import { usage } from "./usage-error.ts";

const WANTED = 'give a duration such as "90s", "1h30m" or "7d", or a time such as "2026-03-01T12:00:00Z"';

const timeText = (ms: number): string => new Date(ms).toISOString();

/** RFC 3339 also allows small letters, and a blank instead of the T. */
const instantMs = (text: string): number | undefined => readInstant(text.replace(/(?<=^\S{10}) /, "T").toUpperCase());

/** `direction`: -1 for a duration back from now, 1 for one ahead. */
const atMs = (option: string, text: string, nowMs: number, direction: 1 | -1): number => {
  const duration = readDuration(text);
  const instant = duration === undefined ? instantMs(text) : nowMs + direction * Math.round(duration);
  if (instant === undefined) throw usage(`Cannot read ${option} "${text}": ${WANTED}`);
  // A time out of this range cannot be shown or stored.
  if (instant < 0) throw usage(`Cannot use ${option} "${text}": the earliest time is ${timeText(0)}`);
  if (instant > LATEST_MS) throw usage(`Cannot use ${option} "${text}": the latest time is ${timeText(LATEST_MS)}`);
  return instant;
};

/** An instant in the past: a duration before now, or an RFC 3339 time that has come. Throws a usage error that names the option. */
export const pastMs = (option: string, text: string, nowMs: number): number => {
  const instant = atMs(option, text, nowMs, -1);
  if (instant > nowMs) throw usage(`Cannot use ${option} "${text}": that time has not come; it is now ${timeText(nowMs)}`);
  return instant;
};

/** An instant in the future: a duration after now, or an RFC 3339 time that has not come. Throws a usage error that names the option. */
export const futureMs = (option: string, text: string, nowMs: number): number => {
  const instant = atMs(option, text, nowMs, 1);
  if (instant <= nowMs) throw usage(`Cannot use ${option} "${text}": that time has passed; it is now ${timeText(nowMs)}`);
  return instant;
};

const SECOND_MS = 1_000;

/** A duration, by default of at least one second. The service checks its limit (lib/service/clusters/cluster-faults.ts). */
export const lengthMs = (option: string, text: string, leastMs = SECOND_MS): number => {
  const length = readDuration(text);
  if (length === undefined || length < leastMs) {
    throw usage(
      `Cannot read ${option} "${text}": give a duration${leastMs > 0 ? ` of at least ${leastMs / SECOND_MS}s` : ""}, such as "15s" or "1m30s"`,
    );
  }
  return Math.round(length);
};
