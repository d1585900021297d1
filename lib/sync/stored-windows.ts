import type { StoredWindows } from "../model/records.ts";
import { extendedTo, newestRunAt, type RecommendationRun, type Windows } from "../model/windows.ts";

/** The recommendation made last, with the run that it belongs to. */
export const newestRun = ({ memory }: Windows): RecommendationRun | undefined => {
  const runs = memory.recommendations ?? [];
  return runs[newestRunAt(runs)];
};

/** Windows as they stand at a sync: an open run reaches to the last sync that was completed. */
export const windowsNow = ({ windows, open }: StoredWindows, evaluatedMs: number): Windows => {
  const { recommendations } = windows.memory;
  if (!open || !recommendations) return windows;
  return { ...windows, memory: { ...windows.memory, recommendations: extendedTo(recommendations, evaluatedMs) } };
};

/** True when the newest run holds at this very sync, so that it goes on until a sync does not extend it. */
export const isOpenAt = (windows: Windows, nowMs: number): boolean => newestRun(windows)?.lastMs === nowMs;

/**
 * True when the page need not be written for this autoscaler: nothing changed but that its newest run goes on (the head says until when), or nothing at all while its run
 * stays closed. Metric values and the observed count are left out: the journal has them, the page keeps those of its last write.
 */
export const needsNoWrite = (stored: StoredWindows, after: StoredWindows): boolean =>
  stored.open === after.open && JSON.stringify(comparable(stored)) === JSON.stringify(comparable(after));

const withoutEnd = (runs: readonly RecommendationRun[]): unknown => {
  const at = newestRunAt(runs);
  const newest = runs[at];
  return [at, newest && runs.with(at, { ...newest, lastMs: 0 })];
};

const comparable = ({ windows: { memory, status }, open }: StoredWindows): unknown => [
  open && memory.recommendations ? withoutEnd(memory.recommendations) : memory.recommendations,
  memory.scaleUps,
  memory.scaleDowns,
  memory.selector,
  status.conditions.map(({ type, status: value, reason, message, transitionMs }) => [type, value, reason, message, transitionMs]),
  status.desiredReplicas,
  status.lastScaleMs,
];
