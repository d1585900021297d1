import { ruleProblems } from "../../fields/evaluate.ts";
import type { Problem } from "../../fields/problem.ts";
import { canonicalOf, parseQuantity } from "../../model/quantity.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import { KNOWN_TYPE, WATERMARK_METRIC_RULES, WATERMARK_SPEC_RULES } from "./fields.ts";
import {
  manifestMetric,
  milli,
  type WatermarkManifestMetric,
  type WatermarkManifestSpec,
} from "./shape.ts";

const canonical = (text: string | undefined): string => {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? canonicalOf(quantity) : "";
};

/**
 * Thousandths as a percentage, truncated to a whole number as Go prints it: -1 thousandth is "-0".
 */
const percent = (thousandths: bigint, per: number): string => {
  const share = Number(thousandths) / per;
  const rounded = Math.trunc(share);
  return Object.is(rounded, -0) ? "-0" : String(rounded);
};

/** A metric as the original's messages print it: `<metric>{map[k:v]}`. */
const nameOf = (metric: WatermarkManifestMetric): string => {
  const labels = (metric.external ?? metric.resource)?.metricSelector?.matchLabels ?? {};
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}:${labels[key]}`);
  return `${(metric.external ?? metric.resource)?.name ?? ""}{map[${pairs.join(" ")}]}`;
};

/** The first rule that a metric breaks, with the original's message. */
const metricBreach = (metric: WatermarkManifestMetric, index: number): readonly Problem[] => {
  const written = manifestMetric(metric);
  const texts = () => ({
    type: metric.type,
    name: (metric.type === "External" ? metric.external : metric.resource)?.name ?? "",
    metric: nameOf(metric),
  });
  const broken = [KNOWN_TYPE, ...WATERMARK_METRIC_RULES].flatMap((rule) =>
    ruleProblems(rule, { read: written, written }, `spec.metrics[${index}]`, texts),
  );
  return broken.slice(0, 1);
};

/**
 * All broken rules with the original's messages, in the order of the controller, which reports the
 * first failure (watermark.md 1.3). Of the metrics only the first failure counts.
 */
export const breaches = (
  spec: WatermarkManifestSpec,
  counts: WatermarkSpec["counts"],
): readonly Problem[] => {
  const { scaleTargetRef, tolerance, scaleUpLimitFactor: up, scaleDownLimitFactor: down } = spec;
  const written = { ...spec, counts };
  const texts = () => ({
    ...scaleTargetRef,
    toleranceText: canonical(tolerance),
    tolerancePercent: percent(milli(tolerance), 10),
    upText: canonical(up),
    upPercent: percent(milli(up), 1000),
    downText: canonical(down),
    downPercent: percent(milli(down), 1000),
  });
  return [
    ...WATERMARK_SPEC_RULES.flatMap((rule) =>
      ruleProblems(rule, { read: written, written }, "spec", texts),
    ),
    ...spec.metrics.flatMap(metricBreach).slice(0, 1),
  ];
};
