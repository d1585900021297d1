import {
  type DemandForecast,
  type Forecast,
  METRICS_FORECAST_MAX,
  type NoForecast,
} from "../../rules/model/forecast.ts";
import type { Sample } from "../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import { capacityAt } from "../../rules/policy/forecast-floor.ts";
import type { MetricLevel } from "../../rules/policy/shared/levels.ts";
import { measureKey } from "../../rules/policy/shared/measures.ts";
import { type ReplayedMetric, shareAtLevel } from "../load.ts";
import type { PodTemplate } from "../pods.ts";
import { cutOffSeries, type Recorded } from "../recorded.ts";
import { recordedLoads } from "../recorded-metrics.ts";
import type { Series } from "../series.ts";
import { demandOf, type PastDemand } from "./demand.ts";
import { type Expectation, expectedOf } from "./forecast.ts";

/** A metric with what is expected of its demand, or why nothing is. */
export interface MetricOutlook {
  readonly level: MetricLevel;
  /** What of the demand a pod takes at the target. */
  readonly perPod: number;
  readonly past?: PastDemand;
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
  return withTarget(levelsOf(spec)).map(({ level, perPod }, at): MetricOutlook => {
    const load = loads.get(measureKey(level, namespace))?.load;
    return outlookOf({ level, perPod }, at, load && demandOf(load, untilMs, cutOff));
  });
};

/** The same of a load that a replay plays. */
export const playedOutlooks = (
  metrics: readonly ReplayedMetric[],
  { pods, untilMs, cutOff }: PlayedDemand,
): readonly MetricOutlook[] =>
  withTarget(metrics.map(({ level }) => level)).map(({ level, perPod }, at) => {
    const metric = metrics.find((one) => one.level === level);
    const { source } = level;
    const base = ("of" in source && source.of === "limit" ? pods.limits : pods.requests)["cpu"];
    const [share] = metric ? shareAtLevel(metric, Number(base ?? 0n)) : [];
    const past = share && demandOf(share.load, untilMs, cutOff);
    // In the units of the target, as history has it.
    return outlookOf({ level, perPod }, at, past && scaled(past, perPod / share.perPod));
  });

/** Of what a replayed load is the demand, and until when. */
export interface PlayedDemand {
  readonly pods: Pick<PodTemplate, "requests" | "limits">;
  readonly untilMs: number;
  readonly cutOff?: Series | undefined;
}

const withTarget = (levels: readonly MetricLevel[]) =>
  levels.flatMap((level) => {
    const perPod = capacityAt(level);
    return perPod === undefined ? [] : [{ level, perPod }];
  });

const scaled = (past: PastDemand, factor: number): PastDemand => ({
  ...past,
  values: past.values.map((value) => value * factor),
});

const outlookOf = (
  metric: Pick<MetricOutlook, "level" | "perPod">,
  at: number,
  past: PastDemand | undefined,
): MetricOutlook => {
  if (at >= METRICS_FORECAST_MAX) return { ...metric, why: "too many metrics" };
  if (!past) return { ...metric, why: "not from demand" };
  const expected = expectedOf(past);
  if (expected === "too short") return { ...metric, past, why: expected };
  return { ...metric, past, expected, ...(expected.why && { why: expected.why }) };
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
