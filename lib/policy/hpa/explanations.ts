import { binaryText, decimalText } from "../../model/quantity.ts";
import type { HpaMetric, HpaSpec } from "../../model/spec-hpa.ts";
import { type Explanations, LARGEST_WINS } from "../explanations.ts";
import { sourceOf } from "../../sources/sources.ts";
import { marksText } from "../shared/metrics/measurement.ts";
import { toleranceOf } from "../shared/metrics/tolerance.ts";

export const HPA_EXPLANATIONS: Explanations<HpaSpec> = {
  ...LARGEST_WINS,
  targets: ({ metrics }) => metrics.map((metric) => ({ type: metric.type, name: sourceOf(metric).nameOf(metric), target: targetText(metric) })),
  cpuPercent: ({ metrics }) => metrics.find((metric) => metric.type === "Resource" && metric.name === "cpu")?.target.averageUtilization,
  behavior: ({ behavior }) => behavior,
  band: (spec, _metric, settings) => ({ kind: "target", ...toleranceOf(spec, settings) }),
};

/** An average comes before a percentage and before a whole value, as the rules read targets (hpa.md 2.5). */
const targetText = (metric: HpaMetric): string => {
  if (metric.marks) return marksText(metric.marks);
  const { averageValueMilli, averageUtilization, valueMilli } = metric.target;
  const amount = "name" in metric && metric.name === "memory" ? binaryText : decimalText;
  if (averageValueMilli !== undefined) return amount(averageValueMilli);
  if (averageUtilization !== undefined) return `${averageUtilization}%`;
  return valueMilli === undefined ? "none" : amount(valueMilli);
};
