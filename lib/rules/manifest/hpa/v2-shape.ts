import {
  anything,
  int32,
  listOf,
  objectOf,
  quantity,
  type ReadAs,
  text,
  textMap,
  type ReadContext,
} from "../../fields/shape.ts";
import type { Problem } from "../../fields/problem.ts";
import { METADATA } from "../form.ts";

/** The fields of autoscaling/v2 as written (hpa.md 1.1); v2beta2 has the same without tolerance. */

export const CROSS_VERSION_REFERENCE = objectOf({ kind: text, name: text, apiVersion: text });

export const LABEL_SELECTOR = objectOf({
  matchLabels: textMap,
  matchExpressions: listOf(objectOf({ key: text, operator: text, values: listOf(text, "") }), {}),
});

/** Marks of the multi-threshold form (proposals.md §5), instead of a target. */
export const MARKS = { highWatermark: quantity, lowWatermark: quantity } as const;

const METRIC_IDENTIFIER = objectOf({ name: text, selector: LABEL_SELECTOR });

const METRIC_TARGET = objectOf({
  type: text,
  value: quantity,
  averageValue: quantity,
  averageUtilization: int32,
});

const METRIC = objectOf({
  type: text,
  object: objectOf({
    describedObject: CROSS_VERSION_REFERENCE,
    metric: METRIC_IDENTIFIER,
    target: METRIC_TARGET,
    ...MARKS,
  }),
  external: objectOf({ metric: METRIC_IDENTIFIER, target: METRIC_TARGET, ...MARKS }),
  pods: objectOf({ metric: METRIC_IDENTIFIER, target: METRIC_TARGET, ...MARKS }),
  resource: objectOf({
    name: text,
    metricSelector: LABEL_SELECTOR,
    target: METRIC_TARGET,
    ...MARKS,
  }),
  containerResource: objectOf({ name: text, container: text, target: METRIC_TARGET, ...MARKS }),
});

const SCALING_RULES = objectOf({
  stabilizationWindowSeconds: int32,
  selectPolicy: text,
  policies: listOf(objectOf({ type: text, value: int32, periodSeconds: int32 }), {}),
  tolerance: quantity,
});

export const BEHAVIOR = objectOf({ scaleUp: SCALING_RULES, scaleDown: SCALING_RULES });

/** Fields of the multi-threshold form beside the metrics of an HPA. */
export const THRESHOLD_FIELDS = {
  algorithm: text,
  tolerance: quantity,
  scaleUpLimitFactor: quantity,
  scaleDownLimitFactor: quantity,
  upscaleForbiddenWindowSeconds: int32,
  downscaleForbiddenWindowSeconds: int32,
} as const;

const V2_SPEC_FIELDS = {
  scaleTargetRef: CROSS_VERSION_REFERENCE,
  minReplicas: int32,
  maxReplicas: int32,
  metrics: listOf(METRIC, {}),
  behavior: BEHAVIOR,
  constraints: anything,
  ...THRESHOLD_FIELDS,
} as const;

const THRESHOLDS = objectOf(THRESHOLD_FIELDS);
export type WrittenThresholds = ReadAs<typeof THRESHOLDS>;

export type Reference = ReadAs<typeof CROSS_VERSION_REFERENCE>;
export type ManifestMetric = ReadAs<typeof METRIC>;
export type Identifier = ReadAs<typeof METRIC_IDENTIFIER>;
export type ManifestTarget = ReadAs<typeof METRIC_TARGET>;
export type ManifestSelector = ReadAs<typeof LABEL_SELECTOR>;
export type Rules = ReadAs<typeof SCALING_RULES>;
export type DraftBehavior = ReadAs<typeof BEHAVIOR>;

/** The block of a metric; of several, the first in the API's order. */
export const metricBlock = ({
  object,
  external,
  pods,
  resource,
  containerResource,
}: ManifestMetric) => object ?? external ?? pods ?? resource ?? containerResource;

export const isMarked = (metric: ManifestMetric): boolean => {
  const { highWatermark, lowWatermark } = metricBlock(metric) ?? {};
  return highWatermark !== undefined || lowWatermark !== undefined;
};

/** The spec of any HPA form in the terms of v2. */
export interface DraftSpec {
  readonly scaleTargetRef?: Reference | undefined;
  readonly minReplicas?: number | undefined;
  readonly maxReplicas?: number | undefined;
  readonly metrics?: readonly ManifestMetric[] | undefined;
  readonly behavior?: DraftBehavior | undefined;
}

/** A manifest of any HPA form as a v2 spec without defaults. */
export interface HpaDraft {
  readonly metadata: ReadAs<typeof METADATA> | undefined;
  readonly spec: DraftSpec;
  /** The draft block of proposals.md §3, unread. */
  readonly constraints?: unknown;
  /** The fields of the multi-threshold form, unread. */
  readonly thresholds?: WrittenThresholds | undefined;
  /** A behavior from an annotation is validated before it is defaulted (hpa.md 1.2). */
  readonly behaviorDefaultedLate?: boolean;
  /** Set when the rules of the first design decide (proposals.md §1). */
  readonly dialect?: "original";
  /** Problems of fields that only this form has. */
  readonly formProblems?: readonly Problem[];
  /** The path of a v2 field in this form, when it has another name. */
  readonly sourceOf: (field: string) => string | undefined;
}

export type ReadForm = (document: unknown, context: ReadContext) => HpaDraft;

/** `status` comes with manifests that were read back from a cluster; it is dropped. */
export const HEAD = { apiVersion: text, kind: text, metadata: METADATA, status: anything } as const;

const V2 = objectOf({ ...HEAD, spec: objectOf(V2_SPEC_FIELDS) });

/** Reads autoscaling/v2 and v2beta2. */
export const readV2: ReadForm = (document, context) => {
  const read = V2(document, "", context);
  const { spec } = read ?? {};
  return {
    metadata: read?.metadata,
    spec: spec ?? {},
    constraints: spec?.constraints,
    thresholds: spec,
    sourceOf: () => undefined,
  };
};
