import { choice, group, integer, type ReadOf } from "../../fields/field-types.ts";
import { FORECAST_QUANTILES, type ForecastAdvice } from "../../model/forecast.ts";
import { MINUTE_MS } from "../../model/time-text.ts";

/** A forecast reaches twelve hours, and is six hours old before the next one comes. */
const HORIZON_MINUTES_MAX = 240;
const DEFAULT_HORIZON_MINUTES = 30;

const ADVICE_FIELDS = {
  forecast: choice(
    "floor raises minReplicas to the pods that the forecast demand needs at the target, within maxReplicas. It never lowers anything.",
    ["floor"],
    { required: true },
  ),
  horizonMinutes: integer(
    "The highest demand of so long ahead counts; longer than pods take to start.",
    { default: DEFAULT_HORIZON_MINUTES, least: 0, most: HORIZON_MINUTES_MAX },
  ),
  quantile: choice(
    "How much of the past would have stayed below: p90 is nine quarters of an hour in ten. A higher one keeps more pods.",
    FORECAST_QUANTILES,
    { default: "p90" },
  ),
} as const;

export const ADVICE = group(
  "Forecasts as advice (docs/forecast.md): made every six hours from the history of the autoscaler, absent where they are of no use.",
  ADVICE_FIELDS,
);

/** Converts valid advice. Members that validation requires fall back. */
export const adviceOf = ({
  forecast = "floor",
  horizonMinutes,
  quantile,
}: ReadOf<typeof ADVICE_FIELDS>): ForecastAdvice => ({
  forecast,
  horizonMs: horizonMinutes * MINUTE_MS,
  quantile,
});
