import { rfc3339 } from "../../answers/service/times.ts";
import type { MetricOutlook } from "../../replay/forecast/outlook.ts";
import {
  expectedAt,
  FORECAST_QUANTILES,
  FORECAST_STEP_MS,
  type ForecastMethod,
  type ForecastQuantile,
} from "../../rules/model/forecast.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { forecastText } from "../../rules/policy/forecast-text.ts";

/** What a forecast answers, as a document and as the source of every text. */
export interface ForecastReport {
  /** What is forecast: an autoscaler, or the file of a load. */
  readonly of: string;
  /** The end of the demand that it is made from. */
  readonly from: string;
  /** The quantile that the pods are for. */
  readonly quantile: ForecastQuantile;
  readonly metrics: readonly MetricReport[];
}

export interface MetricReport {
  readonly metric: string;
  /** True where it beats the last value by a tenth: only then it raises a minimum. */
  readonly ofUse: boolean;
  /** Why it is of no use, or why there is none. */
  readonly why?: string;
  readonly method?: ForecastMethod;
  /** Errors as a share of the demand, for leads up to so many minutes. */
  readonly accuracy?: readonly AccuracyReport[];
  /** How often the demand stayed below each quantile, as a share. */
  readonly coverage?: Readonly<Record<ForecastQuantile, number>>;
  readonly steps: readonly StepReport[];
}

export interface AccuracyReport {
  readonly upToMinutes: number;
  readonly error?: number;
  readonly lastValue?: number;
}

/** A quarter of an hour: the demand in pods at the target, and the whole pods of the quantile. */
export interface StepReport extends Readonly<Record<ForecastQuantile, number>> {
  readonly at: string;
  readonly pods: number;
}

interface Forecasted {
  readonly of: string;
  readonly fromMs: number;
  readonly quantile: ForecastQuantile;
  /** So many steps are shown. */
  readonly steps: number;
  readonly outlooks: readonly MetricOutlook[];
}

export const forecastReport = ({
  of,
  fromMs,
  quantile,
  steps,
  outlooks,
}: Forecasted): ForecastReport => ({
  of,
  from: rfc3339(fromMs),
  quantile,
  metrics: outlooks.map((outlook) => metricReport(outlook, { fromMs, quantile, steps })),
});

const metricReport = (
  { level, perPod, expected, why }: MetricOutlook,
  { fromMs, quantile, steps }: Pick<Forecasted, "fromMs" | "quantile" | "steps">,
): MetricReport => {
  const metric = { metric: level.name, ofUse: why === undefined };
  const reason = why && { why: forecastText({ kind: "absent", why }) };
  if (!expected) return { ...metric, ...reason, steps: [] };
  const stepOf = (step: number): StepReport => {
    const podsOf = (of: ForecastQuantile): number => expectedAt(expected, of, step) / perPod;
    const by = Object.fromEntries(FORECAST_QUANTILES.map((one) => [one, rounded(podsOf(one))]));
    return {
      at: rfc3339(fromMs + step * FORECAST_STEP_MS),
      ...(by as Readonly<Record<ForecastQuantile, number>>),
      pods: Math.ceil(podsOf(quantile) - ROUNDING),
    };
  };
  return {
    ...{ ...metric, ...reason, method: expected.method },
    accuracy: expected.accuracy.map(({ leadSteps, error, lastValue }) => ({
      upToMinutes: (leadSteps * FORECAST_STEP_MS) / MINUTE_MS,
      ...known("error", error),
      ...known("lastValue", lastValue),
    })),
    coverage: expected.coverage,
    steps: Array.from({ length: steps }, (_, step) => stepOf(step)),
  };
};

/** Sums of times are not exact, and 3.0000001 pods are three. */
const ROUNDING = 1e-6;
const rounded = (value: number): number => Number(value.toFixed(2));

/** A share of no demand is left out. */
const known = <Name extends string>(name: Name, share: number): Partial<Record<Name, number>> =>
  Number.isFinite(share) ? ({ [name]: share } as Partial<Record<Name, number>>) : {};
