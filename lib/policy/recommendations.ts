import type { RecommendationRun } from "../model/windows.ts";

/** The largest and smallest count recommended inside a window. A run counts by its last recommendation: whoever holds any of them holds that one. */
export const highest = (runs: readonly RecommendationRun[], start: number, isInside: (atMs: number) => boolean): number =>
  runs.reduce((most, { replicas, lastMs }) => (isInside(lastMs) && replicas > most ? replicas : most), start);

export const lowest = (runs: readonly RecommendationRun[], start: number, isInside: (atMs: number) => boolean): number =>
  runs.reduce((least, { replicas, lastMs }) => (isInside(lastMs) && replicas < least ? replicas : least), start);

export const recorded = (
  runs: readonly RecommendationRun[],
  replicas: number,
  nowMs: number,
  recyclableBeforeMs: number,
): readonly RecommendationRun[] => {
  const slot = runs.findLastIndex(({ lastMs }) => lastMs < recyclableBeforeMs);
  const fresh = { replicas, firstMs: nowMs, lastMs: nowMs };
  return slot < 0 ? [...runs, fresh] : runs.with(slot, fresh);
};
