import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { type Word, text } from "../../stack/report/printed.ts";
import { FORECAST_QUANTILES } from "../../rules/model/forecast.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { aligned } from "../output/text-table.ts";
import { percentText } from "../replay/sheet.ts";
import type { ForecastReport, MetricReport, StepReport } from "./report.ts";

export const headLine = ({ of, from }: ForecastReport): Word =>
  text`${of}: a forecast from the demand until ${withLocalTimes(from)}`;

/** How good the forecasts of a metric were, and what the next hours are expected to need. */
export const metricLines = (
  report: MetricReport,
  quantile: ForecastReport["quantile"],
): readonly Word[] => {
  const { metric, ofUse, why, method, accuracy = [], coverage, steps } = report;
  if (!method || !coverage) return [text`${metric}: no forecast, because ${why ?? ""}`];
  return [
    ofUse
      ? text`${metric}: by ${method}, of use`
      : text`${metric}: by ${method}, no use: ${why ?? ""}`,
    "",
    ...aligned([
      ["AHEAD", "ERROR", "ERROR OF THE LAST VALUE"],
      ...accuracy.map(({ upToMinutes, error, lastValue }) => [
        `up to ${ageText(upToMinutes * MINUTE_MS)}`,
        percentText(error),
        percentText(lastValue),
      ]),
    ]),
    "",
    `The demand stayed below ${FORECAST_QUANTILES.map((one) => `${one} for ${percentText(coverage[one])}`).join(", ")} of the time`,
    "",
    ...aligned([
      ["FROM", "P50", quantile.toUpperCase(), `PODS FOR ${quantile.toUpperCase()}`],
      ...hoursOf(withLocalTimes(steps), quantile),
    ]),
  ];
};

const STEPS_AN_HOUR = 4;

/** One row an hour: its highest step. */
const hoursOf = (
  steps: readonly StepReport[],
  quantile: ForecastReport["quantile"],
): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(steps.length / STEPS_AN_HOUR) }, (_, hour) => {
    const inside = steps.slice(hour * STEPS_AN_HOUR, (hour + 1) * STEPS_AN_HOUR);
    const highest = (of: (step: StepReport) => number): string =>
      String(Math.max(...inside.map(of)));
    return [
      inside[0]?.at ?? "",
      highest(({ p50 }) => p50),
      highest((step) => step[quantile]),
      highest(({ pods }) => pods),
    ];
  });
