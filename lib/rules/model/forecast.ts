import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time-text.ts";

/** A forecast is made of steps of this length. */
export const FORECAST_STEP_MS = 15 * MINUTE_MS;
/** So far ahead of the newest demand that it knows. Afterwards it is too old, and is absent. */
export const FORECAST_REACH_MS = 12 * HOUR_MS;
export const FORECAST_STEPS = FORECAST_REACH_MS / FORECAST_STEP_MS;

/** It is made from so much of the past: a season of a week, and a week to see it come again. */
export const FORECAST_HISTORY_MS = 14 * DAY_MS;
/** It is made anew at each whole multiple of this, once the history until then is there. */
export const FORECAST_EVERY_MS = 6 * HOUR_MS;

/** A quantile of the demand of a step: it stays below in so many percent of the steps. */
export const FORECAST_QUANTILES = ["p50", "p75", "p90", "p95"] as const;
export type ForecastQuantile = (typeof FORECAST_QUANTILES)[number];

/** The methods, the bar first: a forecast is of use where it beats the last value. */
export const FORECAST_METHODS = ["last value", "yesterday", "last week", "Holt-Winters"] as const;
export type ForecastMethod = (typeof FORECAST_METHODS)[number];

/**
 * Leads whose errors are alike, in steps of a forecast: up to so many steps ahead, each from the
 * one before on.
 */
export const LEAD_ENDS = [4, 12, 24, FORECAST_STEPS] as const;

/** The group of a lead of so many steps, from 1 on. */
export const leadGroup = (lead: number): number => {
  const group = LEAD_ENDS.findIndex((end) => lead <= end);
  return group === -1 ? LEAD_ENDS.length - 1 : group;
};

/** By how much a quantile of the demand lies above the forecast of it, for each group of leads. */
export type Margins = Readonly<Record<ForecastQuantile, readonly number[]>>;

/**
 * The demand that is expected of one metric: value × pods, so that it does not depend on how many
 * pods there are. Percent × pods where the metric is measured in percent, else thousandths × pods.
 */
export interface DemandForecast {
  /** The metric, as its manifest names it, and what it measures: of another metric it says nothing. */
  readonly metric: string;
  readonly measures: string;
  /** One for each step from `fromMs` on. */
  readonly points: readonly number[];
  readonly margins: Margins;
}

/** Why there is no forecast of a demand. */
export type NoForecast = "too short" | "no use" | "not from demand" | "too many metrics";

/** So many metrics of an autoscaler are forecast, its first ones: each takes some milliseconds. */
export const METRICS_FORECAST_MAX = 8;

/** What was forecast for an autoscaler. */
export interface Forecast {
  /** The end of the demand that it was made from, and the beginning of its first step. */
  readonly fromMs: number;
  readonly demands: readonly DemandForecast[];
  /** The metrics without a forecast, with the reason. */
  readonly without: readonly { readonly metric: string; readonly why: NoForecast }[];
}

/** The demand that a quantile of a forecast expects in a step. Never negative. */
export const expectedAt = (
  { points, margins }: Pick<DemandForecast, "points" | "margins">,
  quantile: ForecastQuantile,
  step: number,
): number => Math.max(0, (points[step] ?? 0) + (margins[quantile][leadGroup(step + 1)] ?? 0));

/** What a manifest says about forecasts: they may raise the minimum, and do nothing else. */
export interface ForecastAdvice {
  readonly forecast: "floor";
  /** The highest demand of so long ahead counts. */
  readonly horizonMs: number;
  readonly quantile: ForecastQuantile;
}

/** Why a forecast raises no minimum now. */
export type ForecastAbsence = NoForecast | "not made" | "not read" | "too old" | "other metric";

/** What a forecast asks for at an instant. */
export type ForecastState =
  | {
      readonly kind: "floor";
      /** Pods that the demand needs at the target; the bounds of the autoscaler are not in it. */
      readonly replicas: number;
      readonly quantile: ForecastQuantile;
      readonly metric: string;
      /** The step of the highest demand begins here. */
      readonly atMs: number;
      /** The end of the demand that the forecast was made from. */
      readonly fromMs: number;
    }
  | { readonly kind: "absent"; readonly why: ForecastAbsence };
