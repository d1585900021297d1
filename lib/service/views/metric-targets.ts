import { binaryText, decimalText } from "../../model/quantity.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import type { HpaMetric, MetricTarget } from "../../model/spec-hpa.ts";
import type { NativeMetric } from "../../model/spec-native.ts";
import type { MetricView } from "./autoscaler.ts";

/** The metrics of a spec before any sync measured them: each with its target. */
export const unmeasured = (spec: AutoscalerSpec): readonly MetricView[] => {
  switch (spec.dialect) {
    case "hpa":
      return spec.metrics.map((metric) => ({ kind: "unmeasured", type: metric.type, name: nameOf(metric), target: targetText(metric) }));
    case "watermark":
      return spec.metrics.map(({ source, name, lowMilli, highMilli }) => ({
        kind: "unmeasured",
        type: source,
        name,
        target: `${decimalText(lowMilli)}..${decimalText(highMilli)}`,
      }));
    case "native":
      return spec.metrics.map((metric) => ({ kind: "unmeasured", type: metric.source.type, name: metric.name, target: bandText(metric) }));
  }
};

/** A target, or two watermarks, as a sync shows them. */
const bandText = ({ band, measure }: NativeMetric): string => {
  const unit = measure === "Percent" ? "%" : "";
  return band.kind === "target" ? `${decimalText(band.milli)}${unit}` : `${decimalText(band.lowMilli)}${unit}..${decimalText(band.highMilli)}${unit}`;
};

const nameOf = (metric: HpaMetric): string => {
  switch (metric.type) {
    case "Resource":
      return `${metric.name} resource`;
    case "ContainerResource":
      return `${metric.name} resource of container ${metric.container}`;
    case "Pods":
      return `pods metric ${metric.metric.name}`;
    case "Object":
      return `${metric.describedObject.kind} metric ${metric.metric.name}`;
    case "External":
      return `external metric ${metric.metric.name}`;
  }
};

/** An average comes before a percentage and before a whole value, as the rules read targets (hpa.md 2.5). */
const targetText = (metric: HpaMetric): string => {
  if (metric.marks) return `${decimalText(metric.marks.lowMilli)}..${decimalText(metric.marks.highMilli)}`;
  const { averageValueMilli, averageUtilization, valueMilli }: MetricTarget = metric.target;
  const amount = "name" in metric && metric.name === "memory" ? binaryText : decimalText;
  if (averageValueMilli !== undefined) return amount(averageValueMilli);
  if (averageUtilization !== undefined) return `${averageUtilization}%`;
  return valueMilli === undefined ? "none" : amount(valueMilli);
};

const AMOUNT = /^(\d+(?:\.\d+)?)(%|[A-Za-z]*)$/;

/** A target as people read it, times a factor, in the target's own unit: "60%" by 1.1 is "66%", "1Gi" is "1.1Gi". What is no amount keeps the factor in words. */
export const timesTarget = (target: string, factor: number): string => {
  const [, amount, unit] = AMOUNT.exec(target) ?? [];
  return amount === undefined ? `${rounded(factor)} times its target` : `${rounded(Number(amount) * factor)}${unit}`;
};

/** Tolerances are doubles: 66, never 66.00000000000001. */
const rounded = (value: number): number => Number(value.toFixed(2));
