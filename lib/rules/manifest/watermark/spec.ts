import { milliOf, parseQuantity, wholeOf } from "../../model/quantity.ts";
import { WATERMARK_ANNOTATIONS, type WatermarkAnnotations } from "../../model/spec.ts";
import type {
  LifecycleControl,
  LimitFactor,
  Recommender,
  WatermarkMetric,
  WatermarkSpec,
} from "../../model/spec-watermark.ts";
import { labelSelectorOf } from "../../sources/metric-identifier.ts";
import {
  defaulted,
  milli,
  type WatermarkManifestMetric,
  type WatermarkManifestRecommender,
  type WatermarkManifestSpec,
} from "./shape.ts";
import { breaches } from "./validity.ts";

/**
 * The spec for the rules: with defaults, each missing mark copied from the other one, and
 * annotations. A spec that breaks a rule has the first breach.
 */
export const watermarkSpecOf = (
  draft: WatermarkManifestSpec,
  annotations: WatermarkAnnotations,
  options: {
    readonly skipNotScalingEvents: boolean;
    readonly clusterName: string;
    readonly counts?: WatermarkSpec["counts"];
  },
  spec = defaulted(draft, options.counts),
  [breach] = breaches(spec, options.counts ?? "ready"),
): WatermarkSpec => {
  const counts = options.counts ?? "ready";
  return {
    dialect: "watermark",
    counts,
    target: spec.scaleTargetRef,
    minReplicas: spec.minReplicas ?? 1,
    maxReplicas: spec.maxReplicas,
    metrics: spec.metrics.flatMap(metricOf),
    ...(spec.recommender ? { recommender: recommenderOf(spec.recommender) } : {}),
    average: spec.algorithm === "average",
    toleranceMilli: milli(spec.tolerance),
    scaleUpLimit: factorOf(spec.scaleUpLimitFactor),
    scaleDownLimit: factorOf(spec.scaleDownLimitFactor),
    upscaleForbiddenWindowSeconds: spec.upscaleForbiddenWindowSeconds,
    downscaleForbiddenWindowSeconds: spec.downscaleForbiddenWindowSeconds,
    upscaleDelayAboveWatermarkSeconds: spec.upscaleDelayAboveWatermarkSeconds,
    downscaleDelayBelowWatermarkSeconds: spec.downscaleDelayBelowWatermarkSeconds,
    replicaScalingAbsoluteModulo: spec.replicaScalingAbsoluteModulo ?? 1,
    converge: convergeOf(spec.convergeTowardsWatermark),
    dryRun: spec.dryRun,
    tolerateZero: spec.tolerateZero,
    minAvailableReplicaPercentage: spec.minAvailableReplicaPercentage,
    readinessDelaySeconds: spec.readinessDelaySeconds,
    skipOwnerCheck: annotations[WATERMARK_ANNOTATIONS.skipOwnerCheck] === "true",
    lifecycleControl: lifecycleOf(annotations[WATERMARK_ANNOTATIONS.lifecycleControl] ?? ""),
    skipNotScalingEvents: options.skipNotScalingEvents,
    clusterName: options.clusterName,
    ...(breach ? { invalid: breach.detail } : {}),
  };
};

/** Any other text means off. */
const convergeOf = (text: string): WatermarkSpec["converge"] =>
  text === "highwatermark" || text === "lowwatermark" ? text : "off";

export const factorOf = (text: string | undefined): LimitFactor => {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity
    ? { milli: milliOf(quantity), whole: wholeOf(quantity) }
    : { milli: 0n, whole: 0n };
};

/** A single mark counts as both (watermark.md 2.2). */
export const metricOf = (metric: WatermarkManifestMetric): readonly WatermarkMetric[] => {
  const block = metric.type === "External" ? metric.external : metric.resource;
  if (!block) return [];
  const high = block.highWatermark ?? block.lowWatermark;
  const low = block.lowWatermark ?? block.highWatermark;
  const selector = block.metricSelector ? labelSelectorOf(block.metricSelector) : {};
  return [
    {
      source: metric.type === "External" ? "External" : "Resource",
      name: block.name,
      selector,
      highMilli: milli(high),
      lowMilli: milli(low),
    },
  ];
};

const recommenderOf = ({
  url,
  targetType,
  settings,
  highWatermark,
  lowWatermark,
  tls,
}: WatermarkManifestRecommender): Recommender => ({
  url,
  targetType,
  settings,
  ...(highWatermark === undefined ? {} : { highMilli: milli(highWatermark) }),
  ...(lowWatermark === undefined ? {} : { lowMilli: milli(lowWatermark) }),
  tls,
});

const TRUE_WORDS = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE_WORDS = new Set(["0", "f", "F", "FALSE", "false", "False", ""]);

const lifecycleOf = (text: string): LifecycleControl => {
  if (TRUE_WORDS.has(text)) return { kind: "on" };
  return FALSE_WORDS.has(text) ? { kind: "off" } : { kind: "unreadable", text };
};
