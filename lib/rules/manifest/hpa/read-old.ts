import {
  int32,
  listOf,
  objectOf,
  quantity,
  type ReadAs,
  text,
  anything,
  newReadContext,
  type ReadContext,
  type Shape,
} from "../../fields/shape.ts";
import { parseQuantity, type Quantity, signOf } from "../../model/quantity.ts";
import {
  CROSS_VERSION_REFERENCE,
  LABEL_SELECTOR,
  MARKS,
  type ManifestMetric,
  type ManifestTarget,
  BEHAVIOR,
  type DraftBehavior,
  THRESHOLD_FIELDS,
  type ReadForm,
  HEAD,
} from "./v2-shape.ts";
import { cpuMetric } from "./defaults.ts";

/**
 * Metrics of v2alpha1, v2beta1 and the annotation of v1, with the target's fields beside the name
 * (hpa.md 1.2, proposals.md §2).
 */
const LEGACY_METRICS = listOf(
  objectOf({
    type: text,
    object: objectOf({
      target: CROSS_VERSION_REFERENCE,
      metricName: text,
      targetValue: quantity,
      selector: LABEL_SELECTOR,
      averageValue: quantity,
      ...MARKS,
    }),
    external: objectOf({
      metricName: text,
      metricSelector: LABEL_SELECTOR,
      targetValue: quantity,
      targetAverageValue: quantity,
      ...MARKS,
    }),
    pods: objectOf({
      metricName: text,
      targetAverageValue: quantity,
      selector: LABEL_SELECTOR,
      ...MARKS,
    }),
    resource: objectOf({
      name: text,
      metricSelector: LABEL_SELECTOR,
      targetAverageUtilization: int32,
      targetAverageValue: quantity,
      ...MARKS,
    }),
    containerResource: objectOf({
      name: text,
      container: text,
      targetAverageUtilization: int32,
      targetAverageValue: quantity,
      ...MARKS,
    }),
  }),
  {},
);

export type LegacyMetric = ReadAs<typeof LEGACY_METRICS>[number];

/**
 * These forms cannot leave the value out: an absent value is 0, and then refused as not positive.
 */
const ZERO = parseQuantity("0");

const convertedMetric = ({
  type,
  object,
  external,
  pods,
  resource,
  containerResource,
}: LegacyMetric): ManifestMetric => ({
  type,
  object: object && {
    describedObject: object.target,
    metric: { name: object.metricName, selector: object.selector },
    ...levels(object, () => objectTarget(object.targetValue ?? ZERO, object.averageValue)),
  },
  external: external && {
    metric: { name: external.metricName, selector: external.metricSelector },
    ...levels(external, () => ({
      type: external.targetValue === undefined ? "AverageValue" : "Value",
      value: external.targetValue,
      averageValue: external.targetAverageValue,
    })),
  },
  pods: pods && {
    metric: { name: pods.metricName, selector: pods.selector },
    ...levels(pods, () => ({
      type: "AverageValue",
      averageValue: pods.targetAverageValue ?? ZERO,
    })),
  },
  resource: resource && {
    name: resource.name,
    metricSelector: resource.metricSelector,
    ...levels(resource, () => usageTarget(resource)),
  },
  containerResource: containerResource && {
    name: containerResource.name,
    container: containerResource.container,
    ...levels(containerResource, () => usageTarget(containerResource)),
  },
});

interface WrittenMarks {
  readonly highWatermark?: Quantity | undefined;
  readonly lowWatermark?: Quantity | undefined;
}

/** The marks, or the target of the other fields. */
const levels = (
  { highWatermark, lowWatermark }: WrittenMarks,
  target: () => ManifestTarget,
): WrittenMarks & { readonly target?: ManifestTarget } =>
  highWatermark === undefined && lowWatermark === undefined
    ? { target: target() }
    : { highWatermark, lowWatermark };

const objectTarget = (
  value: Quantity | undefined,
  averageValue: Quantity | undefined,
): ManifestTarget => {
  if (averageValue === undefined) return { type: "Value", value };
  // In these forms a value of 0 means absent.
  return {
    type: "AverageValue",
    value: value && signOf(value) === 0 ? undefined : value,
    averageValue,
  };
};

interface Usage {
  readonly targetAverageUtilization?: number | undefined;
  readonly targetAverageValue?: Quantity | undefined;
}

const usageTarget = ({ targetAverageUtilization, targetAverageValue }: Usage): ManifestTarget => ({
  type: targetAverageUtilization === undefined ? "AverageValue" : "Utilization",
  averageUtilization: targetAverageUtilization,
  averageValue: targetAverageValue,
});

/** The v2 names and the names of these forms, longest first. */
const WRITTEN: readonly (readonly [string, string])[] = [
  [".object.describedObject", ".object.target"],
  [".object.metric.name", ".object.metricName"],
  [".object.target.value", ".object.targetValue"],
  [".object.target.averageValue", ".object.averageValue"],
  [".external.metric.name", ".external.metricName"],
  [".external.target.value", ".external.targetValue"],
  [".external.target.averageValue", ".external.targetAverageValue"],
  [".pods.metric.name", ".pods.metricName"],
  [".pods.target.averageValue", ".pods.targetAverageValue"],
  [".resource.target.averageUtilization", ".resource.targetAverageUtilization"],
  [".resource.target.averageValue", ".resource.targetAverageValue"],
  [".containerResource.target.averageUtilization", ".containerResource.targetAverageUtilization"],
  [".containerResource.target.averageValue", ".containerResource.targetAverageValue"],
];

/** The path of a metric's field in these forms; `undefined` when the name is the same. */
const legacySource = (field: string): string | undefined => {
  const renamed = WRITTEN.find(([name]) => field.includes(name));
  return renamed && field.replace(renamed[0], renamed[1]);
};

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR_ANNOTATION = `${PREFIX}behavior`;
const ROUND_TRIP = new Set([
  METRICS,
  BEHAVIOR_ANNOTATION,
  `${PREFIX}current-metrics`,
  `${PREFIX}conditions`,
]);

type Annotations = Readonly<Record<string, string>>;

/** Annotations that carry what v1 cannot express; they are never stored (hpa.md 1.2). */
export const withoutRoundTrip = (annotations: Annotations): Annotations =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => !ROUND_TRIP.has(name)));

const V1 = objectOf({
  ...HEAD,
  spec: objectOf({
    scaleTargetRef: CROSS_VERSION_REFERENCE,
    minReplicas: int32,
    maxReplicas: int32,
    targetCPUUtilizationPercentage: int32,
    constraints: anything,
    ...THRESHOLD_FIELDS,
  }),
});

/** Reads autoscaling/v1: the metrics of the annotation, then the CPU percentage. */
export const readV1: ReadForm = (document, context) => {
  const read = V1(document, "", context);
  const {
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    targetCPUUtilizationPercentage: percent,
    constraints,
  } = read?.spec ?? {};
  const annotations = read?.metadata?.annotations ?? {};
  const annotated = (fromAnnotation(METRICS, LEGACY_METRICS, annotations, context) ?? []).map(
    convertedMetric,
  );
  return {
    metadata: read?.metadata,
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics: [...annotated, ...(percent === undefined ? [] : [cpuMetric(percent)])],
      behavior: annotatedBehavior(annotations, context),
    },
    behaviorDefaultedLate: true,
    constraints,
    thresholds: read?.spec,
    sourceOf: (field) => v1Source(field, annotated.length),
  };
};

const v1Source = (field: string, annotated: number): string | undefined => {
  const behavior = behaviorSource(field);
  if (behavior !== undefined) return behavior;
  const index = /^spec\.metrics\[(\d+)\]/.exec(field);
  if (!index) return undefined;
  if (Number(index[1]) >= annotated) return "spec.targetCPUUtilizationPercentage";
  return `metadata.annotations["${METRICS}"]${(legacySource(field) ?? field).slice("spec.metrics".length)}`;
};

/** The path of a behavior field in forms that have the behavior in an annotation. */
const behaviorSource = (field: string): string | undefined =>
  field.startsWith("spec.behavior")
    ? `metadata.annotations["${BEHAVIOR_ANNOTATION}"]${field.slice("spec.behavior".length)}`
    : undefined;

/** The behavior of the annotation; undefined when it has no direction. */
const annotatedBehavior = (
  annotations: Annotations,
  context: ReadContext,
): DraftBehavior | undefined => {
  const behavior = fromAnnotation(BEHAVIOR_ANNOTATION, BEHAVIOR, annotations, context);
  return behavior?.scaleUp || behavior?.scaleDown ? behavior : undefined;
};

/** An unreadable annotation is ignored, as in the API, with a warning. */
const fromAnnotation = <Value>(
  name: string,
  shape: Shape<Value>,
  annotations: Annotations,
  context: ReadContext,
): Value | undefined => {
  const json = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  if (json === undefined) return undefined;
  const path = `metadata.annotations["${name}"]`;
  const own = newReadContext(true);
  const value = readJson(json, path, shape, own);
  const first = own.problems[0];
  // The API reads annotations without strict validation, so unknown fields in them only warn.
  if (!first)
    context.warnings.push(...own.warnings.map(({ refusal: _never, ...warning }) => warning));
  if (!first) return value;
  context.warnings.push({
    field: path,
    message: `the annotation is ignored: ${first.field} ${first.detail}`,
    fix: "correct its JSON, or write autoscaling/v2",
  });
  return undefined;
};

const readJson = <Value>(
  json: string,
  path: string,
  shape: Shape<Value>,
  own: ReadContext,
): Value | undefined => {
  try {
    return shape(JSON.parse(json), path, own);
  } catch {
    own.problems.push({
      field: path,
      type: "FieldValueTypeInvalid",
      detail: "is not JSON",
      fix: "write JSON",
    });
    return undefined;
  }
};

const V2_BETA_1 = objectOf({
  ...HEAD,
  spec: objectOf({
    scaleTargetRef: CROSS_VERSION_REFERENCE,
    minReplicas: int32,
    maxReplicas: int32,
    metrics: LEGACY_METRICS,
    constraints: anything,
    ...THRESHOLD_FIELDS,
  }),
});

/**
 * Reads autoscaling/v2beta1 and hpa-v2's v2alpha1 (proposals.md §2). A behavior can only come in
 * the annotation.
 */
export const readV2Beta1: ReadForm = (document, context) => {
  const read = V2_BETA_1(document, "", context);
  const { scaleTargetRef, minReplicas, maxReplicas, metrics, constraints } = read?.spec ?? {};
  const behavior = annotatedBehavior(read?.metadata?.annotations ?? {}, context);
  return {
    metadata: read?.metadata,
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics: metrics?.map(convertedMetric),
      behavior,
    },
    behaviorDefaultedLate: true,
    constraints,
    thresholds: read?.spec,
    sourceOf: (field) => behaviorSource(field) ?? legacySource(field),
  };
};
