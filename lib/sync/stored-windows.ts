import type { StoredWindows } from "../model/records.ts";
import type { RecommendationRun, Windows } from "../model/windows.ts";

/** Place of the recommendation made last; -1 without any. Dialects may use old places again, so that it need not be the last of the list. */
const newestAt = (runs: readonly RecommendationRun[]): number =>
  runs.reduce((newest, { lastMs }, at) => (lastMs >= (runs[newest]?.lastMs ?? Number.NEGATIVE_INFINITY) ? at : newest), -1);

/** The recommendation made last, with the run that it belongs to. */
export const newestRun = ({ memory }: Windows): RecommendationRun | undefined => {
  const runs = memory.recommendations ?? [];
  return runs[newestAt(runs)];
};

const withEnd = (runs: readonly RecommendationRun[], lastMs: number): readonly RecommendationRun[] => {
  const at = newestAt(runs);
  const run = runs[at];
  return run ? runs.with(at, { ...run, lastMs }) : runs;
};

/** Windows as they stand at a sync: an open run reaches to the last sync that was completed. */
export const windowsNow = ({ windows, open }: StoredWindows, evaluatedMs: number): Windows => {
  const newest = newestRun(windows);
  if (!open || !newest || newest.lastMs >= evaluatedMs) return windows;
  return { ...windows, memory: { ...windows.memory, recommendations: withEnd(windows.memory.recommendations ?? [], evaluatedMs) } };
};

/** True when the newest run holds at this very sync, so that it goes on until a sync does not extend it. */
export const isOpenAt = (windows: Windows, nowMs: number): boolean => newestRun(windows)?.lastMs === nowMs;

/**
 * True when the page need not be written for this autoscaler: nothing changed but that its newest run goes on (the head says until when), or nothing at all while its run
 * stays closed. Metric values and the observed count are left out: the journal has them, the page keeps those of its last write.
 */
export const needsNoWrite = (stored: StoredWindows, after: StoredWindows): boolean =>
  stored.open === after.open && JSON.stringify(comparable(stored)) === JSON.stringify(comparable(after));

const comparable = ({ windows: { memory, status }, open }: StoredWindows): unknown => [
  open ? withEnd(memory.recommendations ?? [], 0) : memory.recommendations,
  memory.scaleUps,
  memory.scaleDowns,
  memory.selector,
  status.conditions.map(({ type, status: value, reason, message, transitionMs }) => [type, value, reason, message, transitionMs]),
  status.desiredReplicas,
  status.lastScaleMs,
];
