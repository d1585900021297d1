import type { MetricOutlook } from "../../replay/forecast/outlook.ts";
import { expectedAt, FORECAST_STEP_MS, type ForecastQuantile } from "../../rules/model/forecast.ts";
import type { Timeline, TimelinePoint } from "../../stack/report/timeline/timeline.ts";

interface Span {
  readonly fromMs: number;
  readonly quantile: ForecastQuantile;
  /** So many steps of the past and of the forecast are drawn. */
  readonly steps: number;
  readonly bounds: { readonly min: number; readonly max: number };
  readonly loadName: string;
}

/**
 * A demand and its forecast as `tidemark timeline` draws an autoscaler: a bar is the pods that the
 * demand needs at the target, as it was, and then as half of the steps will have it; a circle is
 * the pods of the quantile. The load is of the pods that the newest demand needs.
 */
export const timelineOfOutlook = (
  { past, expected, perPod }: MetricOutlook,
  { fromMs, quantile, steps, bounds, loadName }: Span,
): Timeline | undefined => {
  if (!past || !expected) return undefined;
  const known = [...past.values.slice(-steps)];
  const newest = known.findLast((value) => !Number.isNaN(value)) ?? 0;
  const served = Math.max(1, Math.ceil(newest / perPod)) * perPod;
  const pointAt = (step: number, demand: number, more?: number): TimelinePoint => ({
    atMs: fromMs + step * FORECAST_STEP_MS,
    current: Math.ceil(demand / perPod),
    load: demand / served,
    ...bounds,
    ...(more !== undefined && { wanted: Math.ceil(more / perPod) }),
  });
  const before = known.flatMap((demand, at) =>
    Number.isNaN(demand) ? [] : [pointAt(at - known.length, demand)],
  );
  const ahead = Array.from({ length: steps }, (_, step) =>
    pointAt(step, expectedAt(expected, "p50", step), expectedAt(expected, quantile, step)),
  );
  return {
    sinceMs: fromMs - known.length * FORECAST_STEP_MS,
    untilMs: fromMs + steps * FORECAST_STEP_MS,
    loadName,
    points: [...before, ...ahead],
    marks: [],
    carriedMs: FORECAST_STEP_MS,
  };
};
