import {
  type DemandForecast,
  expectedAt,
  type Forecast,
  FORECAST_REACH_MS,
  FORECAST_STEP_MS,
  FORECAST_STEPS,
  type ForecastAbsence,
  type ForecastAdvice,
  type ForecastState,
} from "../model/forecast.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { levelsOf } from "./dialects.ts";
import type { MetricLevel } from "./shared/levels.ts";
import { measureKey } from "./shared/measures.ts";

/** What of a demand one pod takes at the target of a metric; nothing where it has no target. */
export const capacityAt = ({ measure, milli }: MetricLevel): number | undefined => {
  if (milli === undefined || milli <= 0n) return undefined;
  return measure === "Percent" ? Number(milli) / PERCENT_MILLI : Number(milli);
};

/** A demand of a percentage is in whole percents, its target in thousandths of one. */
const PERCENT_MILLI = 1_000;

interface ForecastUse {
  readonly spec: AutoscalerSpec;
  readonly namespace: string;
  readonly forecast: Forecast | "not read" | undefined;
  readonly nowMs: number;
}

type Floor = Extract<ForecastState, { readonly kind: "floor" }>;

/**
 * The pods that the forecast asks for now: for the highest demand within the horizon, at the target
 * of the metric that needs most. On doubt, absent: a forecast that is missing, old, of another
 * metric or of no use raises nothing. Undefined where the manifest takes no advice.
 */
export const forecastState = ({
  spec,
  namespace,
  forecast,
  nowMs,
}: ForecastUse): ForecastState | undefined => {
  const { advice } = spec;
  if (!advice) return undefined;
  if (!forecast) return absent("not made");
  if (forecast === "not read") return absent(forecast);
  if (nowMs >= forecast.fromMs + FORECAST_REACH_MS) return absent("too old");
  const floors = levelsOf(spec).flatMap((level): readonly Floor[] => {
    const demand = forecast.demands.find((one) => isOf(one, level, namespace));
    const capacity = capacityAt(level);
    return demand && capacity !== undefined
      ? [floorOf(demand, advice, { capacity, fromMs: forecast.fromMs, nowMs })]
      : [];
  });
  return (
    floors.reduce<ForecastState | undefined>(
      (most, floor) => (most?.kind === "floor" && most.replicas >= floor.replicas ? most : floor),
      undefined,
    ) ?? absent(forecast.without[0]?.why ?? "other metric")
  );
};

const absent = (why: ForecastAbsence): ForecastState => ({ kind: "absent", why });

const isOf = (
  { metric, measures }: Pick<DemandForecast, "metric" | "measures">,
  level: MetricLevel,
  namespace: string,
): boolean => metric === level.name && measures === measureKey(level, namespace);

/** What a rounding of the quotient may be off: six pods are six, and not seven. */
const ROUNDING = 1e-9;

const floorOf = (
  demand: DemandForecast,
  { quantile, horizonMs }: ForecastAdvice,
  {
    capacity,
    fromMs,
    nowMs,
  }: { readonly capacity: number; readonly fromMs: number; readonly nowMs: number },
): Floor => {
  // A clock that is behind sees the first step.
  const stepAt = (atMs: number): number =>
    Math.min(FORECAST_STEPS - 1, Math.max(0, Math.floor((atMs - fromMs) / FORECAST_STEP_MS)));
  let highest = stepAt(nowMs);
  for (let step = highest + 1; step <= stepAt(nowMs + horizonMs); step++)
    if (expectedAt(demand, quantile, step) > expectedAt(demand, quantile, highest)) highest = step;
  return {
    kind: "floor",
    replicas: Math.ceil(expectedAt(demand, quantile, highest) / capacity - ROUNDING),
    ...{ quantile, metric: demand.metric, fromMs },
    atMs: fromMs + highest * FORECAST_STEP_MS,
  };
};
