import {
  type DemandForecast,
  type Forecast,
  METRICS_FORECAST_MAX,
  type NoForecast,
} from "../../rules/model/forecast.ts";
import type { Sample } from "../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import type { MetricLevel } from "../../rules/policy/shared/levels.ts";
import { measureKey } from "../../rules/policy/shared/measures.ts";
import { cutOffSeries, type Recorded } from "../recorded.ts";
import { recordedLoads } from "../recorded-metrics.ts";
import { demandOf } from "./demand.ts";
import { type Expectation, expectedOf } from "./forecast.ts";

/** A metric with what is expected of its demand, or why nothing is. */
export interface MetricOutlook {
  readonly level: MetricLevel;
  readonly expected?: Expectation;
  readonly why?: NoForecast;
}

/** What history holds of an autoscaler until an instant. */
export interface DemandHistory {
  readonly spec: AutoscalerSpec;
  readonly namespace: string;
  readonly samples: readonly Sample[];
  /** Time from one sample to the next. */
  readonly periodMs: number;
  readonly untilMs: number;
}

/** The outlook of each metric that has a target, from what was recorded of the autoscaler. */
export const outlooksOf = ({
  spec,
  namespace,
  samples,
  periodMs,
  untilMs,
}: DemandHistory): readonly MetricOutlook[] => {
  const recorded: Recorded = {
    ...{ samples, periodMs, untilMs },
    specs: [{ fromMs: 0, spec }],
    scales: [],
    calendars: [],
  };
  const { loads } = recordedLoads(recorded, namespace, new Map());
  const cutOff = cutOffSeries(recorded);
  return levelsOf(spec)
    .filter(({ milli }) => milli !== undefined)
    .map((level, at): MetricOutlook => {
      if (at >= METRICS_FORECAST_MAX) return { level, why: "too many metrics" };
      const load = loads.get(measureKey(level, namespace))?.load;
      if (!load) return { level, why: "not from demand" };
      const expected = expectedOf(demandOf(load, untilMs, cutOff));
      if (expected === "too short") return { level, why: expected };
      return { level, expected, ...(expected.why && { why: expected.why }) };
    });
};

/** What of the outlooks is used: a forecast for each metric that has one of use. */
export const forecastBy = (
  outlooks: readonly MetricOutlook[],
  { namespace, fromMs }: { readonly namespace: string; readonly fromMs: number },
): Forecast => ({
  fromMs,
  demands: outlooks.flatMap(({ level, expected, why }): readonly DemandForecast[] =>
    expected && why === undefined
      ? [
          {
            metric: level.name,
            measures: measureKey(level, namespace),
            points: expected.points,
            margins: expected.margins,
          },
        ]
      : [],
  ),
  without: outlooks.flatMap(({ level, why }) => (why ? [{ metric: level.name, why }] : [])),
});
