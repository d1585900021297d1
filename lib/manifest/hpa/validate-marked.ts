import { forbidden, invalid, type Problem } from "../../fields/problem.ts";
import { milliOf, parseQuantity, type Quantity, signOf } from "../../model/quantity.ts";
import type { Metric, Target } from "./v2-shape.ts";
import { metricProblems } from "./validate-metric.ts";

const ONE = parseQuantity("1");
/** A valid target, so that the other rules of a marked metric are checked as for a target. */
const ANY: Target = { type: "AverageValue", averageValue: ONE };

type Block = "object" | "external" | "pods" | "resource" | "containerResource";
const BLOCKS: readonly Block[] = ["object", "external", "pods", "resource", "containerResource"];

/** A mark beside a plain target: the meaning cannot be guessed. The problem names both paths. */
export const besideTarget = (path: string, target: string, mark: string): Problem =>
  forbidden(`${path}.${target}`, `may not be set together with ${path}.${mark}`, "keep the target or the watermarks, not both");

/** Every rule of a metric with marks instead of a target. */
export const markedProblems = (metric: Metric, path: string): readonly Problem[] => {
  const standIn = Object.fromEntries(BLOCKS.flatMap((block) => (metric[block] ? [[block, { ...metric[block], target: ANY }]] : [])));
  return [...metricProblems({ ...metric, ...standIn }, path), ...BLOCKS.flatMap((block) => markProblems(metric[block], `${path}.${block}`))];
};

const markProblems = (block: Metric[Block], path: string): readonly Problem[] => {
  const { highWatermark: high, lowWatermark: low, target } = block ?? {};
  if (!high && !low) return [];
  return [
    ...(target ? [besideTarget(path, "target", high ? "highWatermark" : "lowWatermark")] : []),
    ...(high && signOf(high) !== 1 ? [invalid(`${path}.highWatermark`, "must be positive", "write a quantity above 0, such as 500m")] : []),
    ...(low ? lowProblems(low, high, `${path}.lowWatermark`) : []),
  ];
};

/** A low mark of 0 means that this metric never shrinks the count. A single low mark is also the high mark, which must be positive. */
const lowProblems = (low: Quantity, high: Quantity | undefined, path: string): readonly Problem[] => {
  const fix = "write a quantity such as 150m";
  if (!high) return signOf(low) === 1 ? [] : [invalid(path, "must be positive", fix)];
  if (signOf(low) < 0) return [invalid(path, "must be greater than or equal to 0", fix)];
  const crossed = milliOf(high) < milliOf(low);
  return crossed ? [invalid(path, "must be less than or equal to `highWatermark`", "write lowWatermark not above highWatermark")] : [];
};

/** A selector matches other pods than the target's, so a target in percent or per pod would have no meaning. */
export const selectorProblems = (metric: Metric, path: string): readonly Problem[] =>
  metric.resource?.metricSelector
    ? [
        forbidden(
          `${path}.resource.metricSelector`,
          "may not be set together with a target",
          "remove it, or write highWatermark and lowWatermark instead of the target",
        ),
      ]
    : [];
