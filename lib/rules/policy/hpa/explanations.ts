import { binaryText, decimalText } from "../../model/quantity.ts";
import { type HpaMetric, type HpaSpec, isStabilized } from "../../model/spec-hpa.ts";
import { type Explanations, LARGEST_WINS, type RequestShare } from "../explanations.ts";
import { sourceOf } from "../../sources/sources.ts";
import { marksText } from "../shared/metrics/measurement.ts";
import type { ControllerSettings } from "../../model/spec-common.ts";
import type { Windows } from "../../model/windows.ts";
import type { StabilizationWindows } from "../shared/stabilization.ts";
import {
  type Moment,
  rateStates,
  stabilizationStates,
  type WindowStates,
} from "../shared/window-states.ts";
import { stabilized, windowsOf } from "./steps/stabilize.ts";

export const HPA_EXPLANATIONS: Explanations<HpaSpec> = {
  ...LARGEST_WINS,
  targets: ({ metrics }) =>
    metrics.map((metric) => ({
      type: metric.type,
      name: sourceOf(metric).nameOf(metric),
      target: targetText(metric),
    })),
  cpuPercent: ({ metrics }) =>
    metrics.find((metric) => metric.type === "Resource" && metric.name === "cpu")?.target
      .averageUtilization,
  requestShares: ({ metrics }) =>
    metrics.flatMap((metric) => {
      const { averageUtilization, averageValueMilli } = metric.target;
      if (averageUtilization === undefined || averageValueMilli !== undefined) return [];
      return sharesOf(metric);
    }),
  behavior: ({ behavior }) => behavior,
};

const sharesOf = (metric: HpaMetric): readonly RequestShare[] => {
  if (metric.type === "ContainerResource")
    return [{ resource: metric.name, container: metric.container }];
  // With a selector it measures other pods.
  return metric.type === "Resource" && !metric.selector ? [{ resource: metric.name }] : [];
};

/**
 * An average comes before a percentage and before a whole value, as the rules read targets (hpa.md
 * 2.5).
 */
const targetText = (metric: HpaMetric): string => {
  if (metric.marks) return marksText(metric.marks);
  const { averageValueMilli, averageUtilization, valueMilli } = metric.target;
  const amount = "name" in metric && metric.name === "memory" ? binaryText : decimalText;
  if (averageValueMilli !== undefined) return amount(averageValueMilli);
  if (averageUtilization !== undefined) return `${averageUtilization}%`;
  return valueMilli === undefined ? "none" : amount(valueMilli);
};

/** hpa.md 2.6, 3.8 and 3.9: windows of recommendations, and what counts for each policy. */
export const hpaWindows = (
  spec: HpaSpec,
  { memory }: Windows,
  { settings, nowMs, count }: Moment,
): WindowStates => ({
  recommendations: memory.recommendations ?? [],
  stabilization: stabilizationStates(
    lengthsOf(spec, settings),
    memory,
    count,
    (runs, counts) => stabilized(spec, runs, counts, { settings, nowMs }).held,
  ),
  rates: [
    ...rateStates("scaleUp", spec.behavior?.scaleUp, memory, nowMs),
    ...rateStates("scaleDown", spec.behavior?.scaleDown, memory, nowMs),
  ],
});

/**
 * Without behavior only the way down is stabilized, over the cluster's own window (hpa.md 2.6.1).
 */
const lengthsOf = (spec: HpaSpec, settings: ControllerSettings): Partial<StabilizationWindows> => {
  if (!isStabilized(spec)) return {};
  return spec.behavior
    ? windowsOf(spec.behavior, settings)
    : { downMs: settings.downscaleStabilizationMs };
};
