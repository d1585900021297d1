import { type Json, present } from "../../model/json.ts";
import {
  anything,
  int32,
  listOf,
  objectOf,
  type ReadAs,
  type Shape,
  text,
  textMap,
} from "../../fields/shape.ts";
import { canonicalOf, type Quantity, milliOf, parseQuantity } from "../../model/quantity.ts";
import {
  CROSS_VERSION_REFERENCE,
  LABEL_SELECTOR,
  MARKS,
  type ManifestSelector,
  THRESHOLD_FIELDS,
} from "../hpa/v2-shape.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";

/**
 * The spec of a `datadoghq.com/v1alpha1 WatermarkPodAutoscaler` as written, before defaults
 * (watermark.md 1.1).
 */
export interface WatermarkManifestSpec {
  readonly scaleTargetRef: {
    readonly kind: string;
    readonly name: string;
    readonly apiVersion: string;
  };
  readonly metrics: readonly WatermarkManifestMetric[];
  readonly recommender?: WatermarkManifestRecommender;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly algorithm: string;
  readonly tolerance?: string;
  readonly scaleUpLimitFactor?: string;
  readonly scaleDownLimitFactor?: string;
  readonly upscaleForbiddenWindowSeconds?: number;
  readonly downscaleForbiddenWindowSeconds?: number;
  readonly upscaleDelayAboveWatermarkSeconds: number;
  readonly downscaleDelayBelowWatermarkSeconds: number;
  readonly replicaScalingAbsoluteModulo?: number;
  readonly convergeTowardsWatermark: string;
  readonly dryRun: boolean;
  readonly tolerateZero: boolean;
  readonly minAvailableReplicaPercentage: number;
  readonly readinessDelaySeconds: number;
}

/** A metric with quantities in canonical text. */
export interface WatermarkManifestMetric {
  readonly type: string;
  readonly external?: MetricBlock;
  readonly resource?: MetricBlock;
}

export interface MetricBlock {
  readonly name: string;
  readonly metricSelector?: ManifestSelector;
  readonly highWatermark?: string;
  readonly lowWatermark?: string;
}

export interface WatermarkManifestRecommender {
  readonly url: string;
  readonly targetType: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly highWatermark?: string;
  readonly lowWatermark?: string;
  readonly tls: Readonly<Record<string, string>>;
}

const flag: Shape<boolean> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return value;
  context.problems.push({
    field: path,
    type: "FieldValueTypeInvalid",
    detail: "must be true or false",
    fix: "write true or false",
  });
  return undefined;
};

const TLS = objectOf({
  caFile: text,
  certFile: text,
  keyFile: text,
  serverName: text,
  insecureSkipVerify: flag,
  minVersion: text,
  maxVersion: text,
});

export const WATERMARK_SPEC_FIELDS = {
  scaleTargetRef: CROSS_VERSION_REFERENCE,
  metrics: listOf(
    objectOf({
      type: text,
      external: objectOf({ metricName: text, metricSelector: LABEL_SELECTOR, ...MARKS }),
      resource: objectOf({ name: text, metricSelector: LABEL_SELECTOR, ...MARKS }),
    }),
    {},
  ),
  recommender: objectOf({
    url: text,
    targetType: text,
    settings: textMap,
    ...MARKS,
    tlsConfig: TLS,
  }),
  minReplicas: int32,
  maxReplicas: int32,
  ...THRESHOLD_FIELDS,
  upscaleDelayAboveWatermarkSeconds: int32,
  downscaleDelayBelowWatermarkSeconds: int32,
  replicaScalingAbsoluteModulo: int32,
  convergeTowardsWatermark: text,
  dryRun: flag,
  tolerateZero: flag,
  minAvailableReplicaPercentage: int32,
  readinessDelaySeconds: int32,
  // Old versions wrote it, and newer ones drop it.
  readinessDelay: anything,
} as const;

export const WATERMARK_SPEC = objectOf(WATERMARK_SPEC_FIELDS);
type Read = NonNullable<ReadAs<typeof WATERMARK_SPEC>>;

/** Go's zero values of absent fields. Defaults tell the other fields from 0 (watermark.md 1.2). */
const ZEROS = {
  maxReplicas: 0,
  algorithm: "",
  upscaleDelayAboveWatermarkSeconds: 0,
  downscaleDelayBelowWatermarkSeconds: 0,
  convergeTowardsWatermark: "",
  dryRun: false,
  tolerateZero: false,
  minAvailableReplicaPercentage: 0,
  readinessDelaySeconds: 0,
} as const;

/** Absent numbers are 0 and absent texts empty, as in the original. */
export const watermarkSpecFrom = (read: Read): WatermarkManifestSpec => {
  const {
    scaleTargetRef,
    metrics,
    recommender,
    tolerance,
    scaleUpLimitFactor,
    scaleDownLimitFactor,
    readinessDelay: _dropped,
    ...plain
  } = read;
  return {
    ...ZEROS,
    ...present(plain),
    scaleTargetRef: { kind: "", name: "", apiVersion: "", ...present(scaleTargetRef ?? {}) },
    metrics: (metrics ?? []).map(metricFrom),
    ...(recommender && { recommender: recommenderFrom(recommender) }),
    ...amounts({ tolerance, scaleUpLimitFactor, scaleDownLimitFactor }),
  };
};

type ReadMetric = NonNullable<Read["metrics"]>[number];
type ReadMarks = {
  readonly highWatermark?: Quantity | undefined;
  readonly lowWatermark?: Quantity | undefined;
};

const metricFrom = ({ type, external, resource }: ReadMetric): WatermarkManifestMetric => ({
  type: type ?? "",
  ...(external && { external: blockFrom(external.metricName, external.metricSelector, external) }),
  ...(resource && { resource: blockFrom(resource.name, resource.metricSelector, resource) }),
});

const blockFrom = (
  name: string | undefined,
  metricSelector: ManifestSelector | undefined,
  { highWatermark, lowWatermark }: ReadMarks,
): MetricBlock => ({
  name: name ?? "",
  ...(metricSelector && { metricSelector }),
  ...amounts({ highWatermark, lowWatermark }),
});

const recommenderFrom = ({
  url,
  targetType,
  settings,
  highWatermark,
  lowWatermark,
  tlsConfig,
}: NonNullable<Read["recommender"]>): WatermarkManifestRecommender => ({
  url: url ?? "",
  targetType: targetType ?? "",
  settings: settings ?? {},
  ...amounts({ highWatermark, lowWatermark }),
  // `insecureSkipVerify` is read and ignored. The original never applied it, and the answer decides
  // about production.
  tls: Object.fromEntries(
    Object.entries(tlsConfig ?? {}).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value]] : [],
    ),
  ),
});

/** Quantities as canonical text; absent ones stay absent. */
const amounts = <Name extends string>(
  quantities: Readonly<Record<Name, Quantity | undefined>>,
): { readonly [Key in Name]?: string } => {
  const texts = Object.entries<Quantity | undefined>(quantities).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, canonicalOf(value)]],
  );
  return Object.fromEntries(texts) as { readonly [Key in Name]?: string };
};

/** A metric as a manifest has it. */
export const manifestMetric = ({ type, external, resource }: WatermarkManifestMetric): Json => {
  const block = ({
    name: _name,
    ...marks
  }: NonNullable<WatermarkManifestMetric["external"]>): Json => ({ ...marks });
  return present({
    type,
    external: external && { metricName: external.name, ...block(external) },
    resource: resource && { name: resource.name, ...block(resource) },
  });
};

/** Defaults of the Watermark Pod Autoscaler (watermark.md 1.2) and the multi-threshold form. */
export const DEFAULTS = {
  tolerance: "100m",
  scaleUpLimitFactor: "50",
  scaleDownLimitFactor: "20",
  upscaleForbiddenWindowSeconds: 60,
  downscaleForbiddenWindowSeconds: 300,
} as const;

/** The thousandths of a quantity, 0 when it is absent. The shape has checked the text. */
export const milli = (written: string | undefined): bigint => {
  const parsed = written === undefined ? undefined : parseQuantity(written);
  return parsed ? milliOf(parsed) : 0n;
};

export type Defaulted = WatermarkManifestSpec & {
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
};

/**
 * In a WatermarkPodAutoscaler a tolerance of 0 and windows of 0 mean the default (watermark.md
 * 1.2). In the multi-threshold form an absent field takes the default, and 0 means 0: a window of 0
 * s forbids nothing (proposals.md §5).
 */
export const defaulted = (
  spec: WatermarkManifestSpec,
  counts: WatermarkSpec["counts"] = "ready",
): Defaulted => {
  const zeroIsAbsent = counts === "ready";
  const seconds = (written: number | undefined, otherwise: number): number =>
    written === undefined || (written === 0 && zeroIsAbsent) ? otherwise : written;
  return {
    ...spec,
    minReplicas: spec.minReplicas ?? 1,
    algorithm: spec.algorithm || "absolute",
    tolerance:
      spec.tolerance === undefined || (zeroIsAbsent && milli(spec.tolerance) === 0n)
        ? DEFAULTS.tolerance
        : spec.tolerance,
    scaleUpLimitFactor: spec.scaleUpLimitFactor ?? DEFAULTS.scaleUpLimitFactor,
    scaleDownLimitFactor: spec.scaleDownLimitFactor ?? DEFAULTS.scaleDownLimitFactor,
    upscaleForbiddenWindowSeconds: seconds(
      spec.upscaleForbiddenWindowSeconds,
      DEFAULTS.upscaleForbiddenWindowSeconds,
    ),
    downscaleForbiddenWindowSeconds: seconds(
      spec.downscaleForbiddenWindowSeconds,
      DEFAULTS.downscaleForbiddenWindowSeconds,
    ),
    replicaScalingAbsoluteModulo: spec.replicaScalingAbsoluteModulo ?? 1,
  };
};
