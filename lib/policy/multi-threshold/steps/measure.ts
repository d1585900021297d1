import { measuredBy } from "../../hpa/steps/measure.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import { measureMetric } from "../../shared/metrics/measure-metric.ts";
import { measureMarked } from "../metrics/marked.ts";

/** Each metric against its marks where it has two, else against its target. */
export const measure: HpaStep = (sync) =>
  measuredBy((metric, context) => (metric.marks ? measureMarked(metric, metric.marks, context) : measureMetric(metric, context)), sync);
