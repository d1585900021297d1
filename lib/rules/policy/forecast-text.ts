import {
  type ForecastAbsence,
  type ForecastState,
  METRICS_FORECAST_MAX,
} from "../model/forecast.ts";
import { utcText } from "../model/time-text.ts";

/** What a forecast asks for, or why it asks for nothing, for people. */
export const forecastText = (state: ForecastState): string => {
  if (state.kind === "absent") return ABSENT[state.why];
  const { quantile, metric, atMs, fromMs } = state;
  return `${quantile} of ${metric} at ${utcText(atMs)}, from the demand until ${utcText(fromMs)}`;
};

const NEXT = "forecasts are made every six hours";

const ABSENT: Readonly<Record<ForecastAbsence, string>> = {
  "not made": `no forecast is stored yet: ${NEXT}`,
  "not read":
    "the stored forecasts could not be read: the next sync that reads manifests tries again",
  "too old": `the newest forecast is older than twelve hours: ${NEXT}, from the history of the autoscaler`,
  "too short": "of its demand less than two days are known",
  "no use": "no method beat the last value by a tenth in the last three days",
  "not from demand": "its values do not follow from a demand and the number of pods",
  "too many metrics": `only the first ${METRICS_FORECAST_MAX} metrics are forecast`,
  "other metric": `the newest forecast is of another metric: ${NEXT}`,
};
