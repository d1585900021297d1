import {
  FORECAST_METHODS,
  type ForecastMethod,
  type ForecastQuantile,
  LEAD_ENDS,
  type Margins,
  type NoForecast,
} from "../../rules/model/forecast.ts";
import { type Backtest, backtest, coverageOf, marginsOf } from "./backtest.ts";
import type { PastDemand } from "./demand.ts";
import { DAY_STEPS } from "./methods.ts";

/** What is expected of a demand, and how good such forecasts were in the last three days. */
export interface Expectation {
  readonly method: ForecastMethod;
  readonly points: readonly number[];
  readonly margins: Margins;
  /** How often what came stayed below each quantile. */
  readonly coverage: Readonly<Record<ForecastQuantile, number>>;
  readonly accuracy: readonly Accuracy[];
  /** Present where it is shown and not used. */
  readonly why?: NoForecast;
}

/** The error of a group of leads as a share of the demand, of this method and of the last value. */
export interface Accuracy {
  readonly leadSteps: number;
  readonly error: number;
  readonly lastValue: number;
}

/** A forecast is of use where its error is smaller than that of the last value by this share. */
const BETTER_LEAST = 0.1;
/** A forecast is six hours old at most when the next one comes: of later leads nothing is judged. */
const JUDGED_GROUPS = 3;
/** One day to learn from, and one to be judged by. */
const LEAST_STEPS = 2 * DAY_STEPS;
/** A method that could not speak half of the time is not compared. */
const SCORED_LEAST = 0.5;

/**
 * The forecast of a demand by the method that erred least in the last three days. The bar is the
 * last value: a method that does not beat it by a tenth is of no use. "too short" where two days
 * are not known.
 */
export const expectedOf = (demand: PastDemand): Expectation | "too short" => {
  const known = demand.values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : 1), 0);
  if (known < LEAST_STEPS) return "too short";
  const [bar, ...others] = FORECAST_METHODS.map((method) => backtest(method, demand));
  if (!bar || bar.scored === 0) return "too short";
  const [best = bar] = others
    .filter(
      ({ scored, points }) =>
        scored >= SCORED_LEAST * bar.scored && points.every((point) => !Number.isNaN(point)),
    )
    .toSorted((one, other) => errorOf(one) - errorOf(other));
  const chosen = errorOf(best) < errorOf(bar) ? best : bar;
  return {
    method: chosen.method,
    points: chosen.points,
    margins: marginsOf(chosen.residuals),
    coverage: coverageOf(chosen.residuals),
    accuracy: LEAD_ENDS.map((leadSteps, at) => ({
      leadSteps,
      error: shareAt(chosen, at),
      lastValue: shareAt(bar, at),
    })),
    ...(!(errorOf(chosen) < (1 - BETTER_LEAST) * errorOf(bar)) && { why: "no use" }),
  };
};

/** The error of the judged leads as a share of the demand; NaN where there was no demand. */
const errorOf = ({ errors, demands }: Pick<Backtest, "errors" | "demands">): number =>
  total(errors) / total(demands);

const total = (groups: readonly number[]): number =>
  groups.slice(0, JUDGED_GROUPS).reduce((sum, value) => sum + value, 0);

const shareAt = ({ errors, demands }: Backtest, at: number): number =>
  (errors[at] ?? 0) / (demands[at] ?? 0);
