import { invalid } from "./refusals.ts";

/** RFC 3339 in UTC with milliseconds, in every answer, so that texts sort in order of time. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** The same of a time that may be absent. */
export const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : rfc3339(ms);

/** Whole seconds; 0 where the clocks of two machines differ. */
export const secondsBetween = (thenMs: number, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - thenMs) / 1000));

/**
 * A caller's clock may be ahead by the difference that signatures allow; such an instant means now.
 */
export const CLOCKS_APART_MS = 5 * 60_000;

/**
 * Refuses a range that holds nothing whatever is stored: an empty answer would read as "nothing
 * happened". `action` is what was asked for: "list the events". Throws `service.invalid` with the
 * field at fault.
 */
export const refuseEmptyRange = (
  action: string,
  {
    sinceMs,
    untilMs,
  }: { readonly sinceMs?: number | undefined; readonly untilMs?: number | undefined },
  nowMs: number,
): void => {
  if (sinceMs === undefined) return;
  const times = { field: "since", sinceMs, untilMs, nowMs };
  if (sinceMs > nowMs + CLOCKS_APART_MS)
    throw invalid(
      `Cannot ${action} since ${rfc3339(sinceMs)}: that is a future time; it is now ${rfc3339(nowMs)}`,
      times,
    );
  if (untilMs !== undefined && sinceMs > untilMs)
    throw invalid(
      `Cannot ${action} since ${rfc3339(sinceMs)}: it is after the end of the range, ${rfc3339(untilMs)}`,
      times,
    );
};
