import type { Windows } from "../../model/windows.ts";
import type { Head } from "../../store/head/head.ts";
import { DEFAULT_TIMING } from "../../plan/timing.ts";

/** The latest time that a right clock may have written, as this clock tells: the two may differ by so much. */
export const latestMs = (clockMs: number): number => clockMs + DEFAULT_TIMING.clockDifferenceMs;

/** By how much a head is ahead of this clock; `undefined` where it is not by more than two clocks may differ. */
export const headAheadMs = ({ nowMs, evaluatedMs, dueDoneMs }: Head, clockMs: number): number | undefined => {
  const newestMs = Math.max(nowMs, evaluatedMs, dueDoneMs);
  return newestMs > latestMs(clockMs) ? newestMs - clockMs : undefined;
};

/** The newest time in windows. */
export const newestTimeOf = ({ memory, status }: Windows): number =>
  Math.max(
    0,
    status.lastScaleMs ?? 0,
    ...(memory.recommendations ?? []).map(({ lastMs }) => lastMs),
    ...[...memory.scaleUps, ...memory.scaleDowns].map(({ atMs }) => atMs),
    ...status.conditions.map(({ transitionMs }) => transitionMs),
  );

/** Windows in which no scale is later than an instant. Recommendations and conditions stay as they are. */
export const scaledUntil = ({ memory, status }: Windows, nowMs: number): Windows => {
  const until = (changes: Windows["memory"]["scaleUps"]): Windows["memory"]["scaleUps"] =>
    changes.map((change) => (change.atMs > nowMs ? { ...change, atMs: nowMs, earliestMs: 0 } : change));
  return {
    memory: { ...memory, scaleUps: until(memory.scaleUps), scaleDowns: until(memory.scaleDowns) },
    status: { ...status, ...(status.lastScaleMs !== undefined && { lastScaleMs: Math.min(status.lastScaleMs, nowMs) }) },
  };
};
