import type { UncountedScale } from "../model/records.ts";
import type { RecommendationRun, ScaleChange, Windows } from "../model/windows.ts";
import { scaledToZero, setCondition } from "../policy/shared/conditions.ts";
import { settled } from "../policy/shared/recommendations.ts";
import type { Change } from "../policy/shared/recorded-scales.ts";

/**
 * Windows with the recommendation behind an intent of an earlier sync, at the time it was made, however the scale ended. That sync may have died before it stored its page: without
 * the recommendation, a stabilization window would be cut short. Recording it twice changes nothing.
 */
export const withRecommendation = (windows: Windows, { recommendation, decidedMs }: Pick<UncountedScale, "recommendation" | "decidedMs">): Windows =>
  recommendation === undefined
    ? windows
    : { ...windows, memory: { ...windows.memory, recommendations: withRun(windows.memory.recommendations ?? [], recommendation, decidedMs) } };

const withRun = (runs: readonly RecommendationRun[], replicas: number, atMs: number): readonly RecommendationRun[] => {
  if (runs.some((run) => run.replicas === replicas && run.firstMs <= atMs && atMs <= run.lastMs)) return runs;
  // It goes before the runs that last until then or begin later, so that the newest run stays the last.
  const later = runs.findIndex(({ lastMs }) => lastMs >= atMs);
  const run = { replicas, firstMs: atMs, lastMs: atMs };
  // As the newest run it ends the open one, which would otherwise reach past it with recommendations that were never made.
  return later === -1 ? [...settled(runs), run] : runs.toSpliced(later, 0, run);
};

/** Windows with a scale of an autoscaler whose spec cannot be read now, in the form that every dialect reads: the scale must count once the spec can be read again. */
export const withChange = ({ memory, status }: Windows, { from, to, atMs, earliestMs, eventId = "" }: Change): Windows => {
  const change: ScaleChange = { change: Math.abs(to - from), atMs, eventId, ...(earliestMs !== undefined && { earliestMs }) };
  const recorded = (changes: readonly ScaleChange[]): readonly ScaleChange[] =>
    changes.some((known) => known.eventId === eventId) ? changes : [...changes, change];
  return {
    memory: to > from ? { ...memory, scaleUps: recorded(memory.scaleUps) } : { ...memory, scaleDowns: recorded(memory.scaleDowns) },
    status: {
      ...status,
      // The condition lets the autoscaler wake the workload that it put to rest, once its spec can be read.
      conditions: from > 0 && to === 0 ? setCondition(status.conditions, scaledToZero(true), atMs) : status.conditions,
      desiredReplicas: to,
      lastScaleMs: Math.max(status.lastScaleMs ?? 0, atMs),
    },
  };
};
