import type { TimeSpan } from "../figures.ts";
import type { Minutes } from "../minutes.ts";
import { HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";

/**
 * The most pods that were missing in an hour, on average over it: how badly the worst hour was
 * served.
 */
export const worstHour = (minutes: Minutes, { fromMs, untilMs }: TimeSpan): number => {
  const from = Math.max(0, Math.ceil((fromMs - minutes.fromMs) / MINUTE_MS));
  const until = Math.min(minutes.length, Math.ceil((untilMs - minutes.fromMs) / MINUTE_MS));
  const hour = HOUR_MS / MINUTE_MS;
  const missing = Array.from({ length: Math.max(0, until - from) }, (_, more) => {
    const at = from + more;
    return Math.max(0, (minutes.neededMs[at] ?? 0) - (minutes.knownReadyMs[at] ?? 0));
  });
  let inHour = 0;
  let worst = 0;
  for (const [at, amount] of missing.entries()) {
    inHour += amount - (missing[at - hour] ?? 0);
    worst = Math.max(worst, inHour);
  }
  return worst / HOUR_MS;
};

/** The largest count of a time. */
export const largestCount = (minutes: Minutes, { fromMs, untilMs }: TimeSpan): number => {
  let largest = 0;
  for (let at = 0; at < minutes.length; at++) {
    const ms = minutes.fromMs + at * MINUTE_MS;
    if (ms >= fromMs && ms < untilMs) largest = Math.max(largest, minutes.count[at] ?? 0);
  }
  return largest;
};
