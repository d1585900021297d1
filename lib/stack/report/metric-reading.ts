import type { MetricOutcome } from "../../rules/model/decision.ts";

/** A metric in the newest sync; `unmeasured` before the first evaluation. */
export type MetricReading =
  /** `average`: for a percentage, the amount per pod behind it. */
  | (Exclude<MetricOutcome, { readonly kind: "failed" }> & { readonly average?: string })
  | (Extract<MetricOutcome, { readonly kind: "failed" }> & { readonly target?: string })
  | {
      readonly kind: "unmeasured";
      readonly name: string;
      readonly type: string;
      readonly target: string;
    };

export const UNKNOWN = "<unknown>";

/** For example "62% (310m)": a percentage and the amount per pod behind it. */
export const valueText = ({
  value,
  average,
}: Extract<MetricReading, { readonly kind: "measured" }>): string =>
  average === undefined ? value : `${value} (${average})`;

/** Current value and target of a metric: "62% (310m)/60%". */
export const metricText = (metric: MetricReading): string => {
  switch (metric.kind) {
    case "measured":
      return `${valueText(metric)}/${metric.target}`;
    case "unmeasured":
      return `${UNKNOWN}/${metric.target}`;
    case "failed":
      return metric.target === undefined ? UNKNOWN : `${UNKNOWN}/${metric.target}`;
  }
};
