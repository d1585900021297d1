import { canonicalOf, parseQuantity } from "../../model/quantity.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import { milli, type WatermarkManifestMetric, type WatermarkManifestSpec } from "./shape.ts";

/** A broken rule with the original's message, and the path of the field. */
export interface Breach {
  readonly field: string;
  readonly message: string;
}

const canonical = (text: string | undefined): string => {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? canonicalOf(quantity) : "";
};

/** Thousandths as a percentage, truncated to a whole number as Go prints it: -1 thousandth is "-0". */
const percent = (thousandths: bigint, per: number): string => {
  const share = Number(thousandths) / per;
  const rounded = Math.trunc(share);
  return Object.is(rounded, -0) ? "-0" : String(rounded);
};

type Rule = (spec: WatermarkManifestSpec, counts: WatermarkSpec["counts"]) => Breach | undefined;

const target: Rule = ({ scaleTargetRef: { kind, name } }) =>
  kind === "" || name === ""
    ? {
        field: "spec.scaleTargetRef",
        message: `the Spec.ScaleTargetRef should be populated, currently Kind:${kind} and/or Name:${name} are not set properly`,
      }
    : undefined;

const bounds: Rule = ({ minReplicas, maxReplicas }) =>
  minReplicas === undefined || maxReplicas < minReplicas
    ? {
        field: "spec.maxReplicas",
        message: "watermark pod autoscaler requires the minimum number of replicas to be configured and inferior to the maximum",
      }
    : undefined;

const tolerance: Rule = (spec) => {
  const value = milli(spec.tolerance);
  if (value >= 0n && value <= 1000n) return undefined;
  const message = `tolerance should be set as a quantity between 0 and 1, currently set to : ${canonical(spec.tolerance)}, which is ${percent(value, 10)}%`;
  return { field: "spec.tolerance", message };
};

const factorsGiven: Rule = ({ scaleUpLimitFactor, scaleDownLimitFactor }) =>
  scaleUpLimitFactor === undefined || scaleDownLimitFactor === undefined
    ? { field: "spec.scaleUpLimitFactor", message: "scaleuplimitfactor and scaledownlimitfactor can't be nil, make sure the WPA spec is defaulted" }
    : undefined;

const upFactor: Rule = ({ scaleUpLimitFactor }) => {
  const value = milli(scaleUpLimitFactor);
  if (value >= 0n) return undefined;
  const message = `scaleuplimitfactor should be set as a positive quantity, currently set to : ${canonical(scaleUpLimitFactor)}, which could yield a ${percent(value, 1000)}% growth`;
  return { field: "spec.scaleUpLimitFactor", message };
};

/** The multi-threshold form also allows 100 (proposals.md §5). */
const downFactor: Rule = ({ scaleDownLimitFactor }, counts) => {
  const value = milli(scaleDownLimitFactor);
  if (value >= 0n && (value < 100_000n || (value === 100_000n && counts === "current"))) return undefined;
  const message = `scaledownlimitfactor should be set as a quantity between 0 and 100 (exc.), currently set to : ${canonical(scaleDownLimitFactor)}, which could yield a ${percent(value, 1000)}% decrease`;
  return { field: "spec.scaleDownLimitFactor", message };
};

const oneSource: Rule = ({ recommender, metrics }) =>
  recommender !== undefined && metrics.length > 0
    ? { field: "spec.recommender", message: "recommender and metrics can't be set at the same time, please choose one" }
    : undefined;

const metrics: Rule = (spec) => {
  for (const [index, metric] of spec.metrics.entries()) {
    const breach = metricBreach(metric, `spec.metrics[${index}]`);
    if (breach) return breach;
  }
  return undefined;
};

/** A metric as the original's messages print it: `<metric>{map[k:v]}`. */
const nameOf = (metric: WatermarkManifestMetric): string => {
  const labels = (metric.external ?? metric.resource)?.metricSelector?.matchLabels ?? {};
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}:${labels[key]}`);
  return `${(metric.external ?? metric.resource)?.name ?? ""}{map[${pairs.join(" ")}]}`;
};

const metricBreach = (metric: WatermarkManifestMetric, path: string): Breach | undefined => {
  if (metric.type !== "External" && metric.type !== "Resource") return { field: `${path}.type`, message: `incorrect metric.Type: '${metric.type}'` };
  const member = metric.type === "External" ? "external" : "resource";
  const block = metric[member];
  if (!block) return { field: `${path}.${member}`, message: `metric.${metric.type} is nil while metric.Type is '${metric.type}'` };
  const { highWatermark, lowWatermark, metricSelector } = block;
  if (highWatermark === undefined && lowWatermark === undefined)
    return { field: `${path}.${member}`, message: "at least one watermark (low/high) should be set" };
  if (metricSelector === undefined)
    return { field: `${path}.${member}.metricSelector`, message: `missing Labels for the ${metric.type} metric ${block.name}` };
  if (highWatermark !== undefined && lowWatermark !== undefined && milli(highWatermark) < milli(lowWatermark))
    return {
      field: `${path}.${member}.lowWatermark`,
      message: `low WaterMark of ${metric.type} metric ${nameOf(metric)} has to be strictly inferior to the High Watermark`,
    };
  return undefined;
};

/** In the order of the controller, which reports the first failure (watermark.md 1.3). */
const RULES: readonly Rule[] = [target, bounds, tolerance, factorsGiven, upFactor, downFactor, oneSource, metrics];

/** All broken rules, in order. */
export const breaches = (spec: WatermarkManifestSpec, counts: WatermarkSpec["counts"]): readonly Breach[] =>
  RULES.flatMap((rule) => rule(spec, counts) ?? []);
