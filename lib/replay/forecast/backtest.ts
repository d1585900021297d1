import {
  FORECAST_QUANTILES,
  FORECAST_STEPS,
  type ForecastMethod,
  type ForecastQuantile,
  LEAD_ENDS,
  leadGroup,
  type Margins,
} from "../../rules/model/forecast.ts";
import { quantileOf } from "../figures.ts";
import type { PastDemand } from "./demand.ts";
import { DAY_STEPS, newForecaster } from "./methods.ts";

/** A method over the last three days: from each step of them it forecast, and what came is known. */
export interface Backtest {
  readonly method: ForecastMethod;
  /** Absolute errors added up, and the demand that they are of, for each group of leads. */
  readonly errors: readonly number[];
  readonly demands: readonly number[];
  /** What came less what was forecast, for each group of leads, in order of time. */
  readonly residuals: readonly (readonly number[])[];
  /** Of what the bar could forecast in this time, this method forecast so many. */
  readonly scored: number;
  /** What it says of the time after the demand. */
  readonly points: readonly number[];
}

const SCORED_STEPS = 3 * DAY_STEPS;
/** A forecast of each hour is judged: those between differ little, and cost as much. */
const ORIGIN_STEPS = 4;

/**
 * Plays a method over a demand, as it would have been used: it sees one step after the other, and
 * forecasts from each hour of the last three days, all leads of a forecast.
 */
export const backtest = (method: ForecastMethod, { values, cutOff }: PastDemand): Backtest => {
  const forecaster = newForecaster(method);
  const scores = LEAD_ENDS.map((): Score => ({ error: 0, demand: 0, residuals: [] }));
  for (const [at, value] of values.entries()) {
    forecaster.see(value);
    const since = values.length - 1 - at;
    if (since > SCORED_STEPS || since % ORIGIN_STEPS !== 0) continue;
    const leads = Math.min(FORECAST_STEPS, since);
    for (let lead = 1; lead <= leads; lead++)
      if (cutOff[at + lead] !== 1)
        judge(scores[leadGroup(lead)], values[at + lead] ?? Number.NaN, forecaster.ahead(lead));
  }
  return {
    method,
    errors: scores.map(({ error }) => error),
    demands: scores.map(({ demand }) => demand),
    residuals: scores.map(({ residuals }) => residuals),
    scored: scores.reduce((sum, { residuals }) => sum + residuals.length, 0),
    points: Array.from({ length: FORECAST_STEPS }, (_, at) => forecaster.ahead(at + 1)),
  };
};

interface Score {
  error: number;
  demand: number;
  readonly residuals: number[];
}

/** Where either is not known, nothing is judged. */
const judge = (score: Score | undefined, came: number, forecast: number): void => {
  const residual = came - forecast;
  if (!score || Number.isNaN(residual)) return;
  score.error += Math.abs(residual);
  score.demand += came;
  score.residuals.push(residual);
};

/** Of the errors that a method made, so many percent lay below each quantile. */
export const marginsOf = (residuals: Backtest["residuals"]): Margins =>
  byQuantile((quantile) =>
    residuals.map((group) => (group.length === 0 ? 0 : quantileOf(group, shareOf(quantile)))),
  );

/**
 * How often what came stayed below each quantile: margins of the first half of the time, judged by
 * the second half, so that nothing is judged by what it was made of.
 */
export const coverageOf = (
  residuals: Backtest["residuals"],
): Readonly<Record<ForecastQuantile, number>> => {
  const halves = residuals.map((group) => Math.floor(group.length / 2));
  const margins = marginsOf(residuals.map((group, at) => group.slice(0, halves[at])));
  const judged = residuals.map((group, at) => group.slice(halves[at]));
  const total = judged.reduce((sum, group) => sum + group.length, 0);
  return byQuantile((quantile) => {
    const within = judged.reduce(
      (sum, group, at) =>
        sum + group.filter((residual) => residual <= (margins[quantile][at] ?? 0)).length,
      0,
    );
    return within / total;
  });
};

/** p90 is nine in ten. */
const shareOf = (quantile: ForecastQuantile): number => Number(quantile.slice(1)) / 100;

const byQuantile = <Value>(
  of: (quantile: ForecastQuantile) => Value,
): Readonly<Record<ForecastQuantile, Value>> =>
  Object.fromEntries(FORECAST_QUANTILES.map((quantile) => [quantile, of(quantile)])) as Readonly<
    Record<ForecastQuantile, Value>
  >;
