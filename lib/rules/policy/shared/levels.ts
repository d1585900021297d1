import type { HpaMetric, HpaSpec } from "../../model/spec-hpa.ts";
import type { NativeMetric, NativeSpec } from "../../model/spec-native.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Measure } from "../../sources/source.ts";
import { type SourceSpec, sourceOf } from "../../sources/sources.ts";

/** A metric of a spec with the highest value that needs no further pod. */
export interface MetricLevel {
  /** Of the metric itself: "cpu", "queue-length"; in a PodAutoscaler the name that it has there. */
  readonly name: string;
  readonly source: SourceSpec;
  readonly measure: Measure;
  /**
   * The target, or the high watermark, in thousandths; thousandths of a percent where the metric is
   * measured in percent. Absent for a metric that asks for no count of its own.
   */
  readonly milli?: bigint;
}

const MILLI_PERCENT = 1_000;

/** The metrics of an HPA, in the order of its manifest. */
export const hpaLevels = ({ metrics, thresholds }: HpaSpec): readonly MetricLevel[] =>
  metrics.map((metric) => hpaLevel(metric, thresholds?.average === true));

const hpaLevel = (metric: HpaMetric, isAverage: boolean): MetricLevel => ({
  name: "metric" in metric ? metric.metric.name : metric.name,
  source: metric,
  ...hpaMeasure(metric, isAverage),
});

const hpaMeasure = (
  metric: HpaMetric,
  isAverage: boolean,
): Pick<MetricLevel, "measure" | "milli"> => {
  const { target, marks } = metric;
  if (marks) {
    const isOfPods = sourceOf(metric).samplesOf === "pods";
    return { measure: isOfPods || isAverage ? "Average" : "Total", milli: marks.highMilli };
  }
  if (target.averageUtilization !== undefined)
    return { measure: "Percent", milli: BigInt(target.averageUtilization * MILLI_PERCENT) };
  return target.averageValueMilli === undefined
    ? { measure: "Total", milli: target.valueMilli ?? 0n }
    : { measure: "Average", milli: target.averageValueMilli };
};

export const watermarkLevels = ({ metrics, average }: WatermarkSpec): readonly MetricLevel[] =>
  metrics.map(({ source, name, selector, highMilli }) =>
    source === "Resource"
      ? { name, source: { type: "Resource", name, selector }, measure: "Average", milli: highMilli }
      : {
          name,
          source: { type: "External", metric: { name, selector } },
          measure: average ? "Average" : "Total",
          milli: highMilli,
        },
  );

export const nativeLevels = ({ metrics }: NativeSpec): readonly MetricLevel[] =>
  metrics.map(nativeLevel);

const nativeLevel = ({ name, source, measure, band, input }: NativeMetric): MetricLevel => ({
  name,
  source,
  measure,
  ...(!input && { milli: band.kind === "target" ? band.milli : band.highMilli }),
});
