import ms, { type StringValue } from "ms";
import { usage } from "./usage.ts";

const PART = /\d+(?:\.\d+)?[a-z]+/gi;
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/i;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds of "90s", "2h", "1h30m", "7d"; undefined for anything else. */
const durationMs = (text: string): number | undefined => {
  if (!DURATION.test(text)) return undefined;
  return (text.match(PART) ?? []).reduce((sum, part) => sum + ms(part as StringValue), 0);
};

const instantMs = (text: string): number | undefined => {
  const parsed = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
};

const WANTED = 'wanted a duration such as "90s", "2h" or "7d", or a time such as "2026-03-01T12:00:00Z"';

/** An instant in the past: that long before now, or the RFC 3339 time itself. Throws a usage error that names the option. */
export const pastMs = (option: string, text: string, nowMs: number): number => {
  const duration = durationMs(text);
  const instant = duration === undefined ? instantMs(text) : nowMs - duration;
  if (instant === undefined) throw usage(`Cannot read ${option} "${text}": ${WANTED}`);
  return instant;
};

/** An instant in the future: that long after now, or the RFC 3339 time itself, which must not have passed. */
export const futureMs = (option: string, text: string, nowMs: number): number => {
  const duration = durationMs(text);
  const instant = duration === undefined ? instantMs(text) : nowMs + duration;
  if (instant === undefined) throw usage(`Cannot read ${option} "${text}": ${WANTED}`);
  if (instant <= nowMs) throw usage(`Cannot use ${option} "${text}": it is ${new Date(nowMs).toISOString()} already`);
  return instant;
};

const SECOND_MS = 1000;

/** A length of time, by default of at least one second. */
export const lengthMs = (option: string, text: string, leastMs = SECOND_MS): number => {
  const length = text === "0" ? 0 : durationMs(text);
  if (length === undefined || length < leastMs) {
    throw usage(`Cannot read ${option} "${text}": wanted a duration${leastMs > 0 ? ` of at least ${ms(leastMs)}` : ""}, such as "15s" or "5m"`);
  }
  return length;
};
