import { anything, int32, newReadContext, objectOf, type ReadContext, type Shape } from "../../fields/shape.ts";
import { cpuMetric } from "./defaults.ts";
import type { ReadForm } from "./hpa-draft.ts";
import { convertedMetric, LEGACY_METRICS, legacySource } from "./legacy-metrics.ts";
import { HEAD } from "./read-v2.ts";
import { BEHAVIOR, CROSS_VERSION_REFERENCE, type DraftBehavior, THRESHOLD_FIELDS } from "./v2-shape.ts";

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR_ANNOTATION = `${PREFIX}behavior`;
const ROUND_TRIP = new Set([METRICS, BEHAVIOR_ANNOTATION, `${PREFIX}current-metrics`, `${PREFIX}conditions`]);

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
  const { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: percent, constraints } = read?.spec ?? {};
  const annotations = read?.metadata?.annotations ?? {};
  const annotated = (fromAnnotation(METRICS, LEGACY_METRICS, annotations, context) ?? []).map(convertedMetric);
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
export const behaviorSource = (field: string): string | undefined =>
  field.startsWith("spec.behavior") ? `metadata.annotations["${BEHAVIOR_ANNOTATION}"]${field.slice("spec.behavior".length)}` : undefined;

/** The behavior of the annotation; undefined when it has no direction. */
export const annotatedBehavior = (annotations: Annotations, context: ReadContext): DraftBehavior | undefined => {
  const behavior = fromAnnotation(BEHAVIOR_ANNOTATION, BEHAVIOR, annotations, context);
  return behavior?.scaleUp || behavior?.scaleDown ? behavior : undefined;
};

/** An unreadable annotation is ignored, as in the API, with a warning. */
const fromAnnotation = <Value>(name: string, shape: Shape<Value>, annotations: Annotations, context: ReadContext): Value | undefined => {
  const json = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  if (json === undefined) return undefined;
  const path = `metadata.annotations["${name}"]`;
  const own = newReadContext(true);
  const value = readJson(json, path, shape, own);
  const first = own.problems[0];
  // The API reads annotations without strict validation, so unknown fields in them only warn.
  if (!first) context.warnings.push(...own.warnings.map(({ refusal: _never, ...warning }) => warning));
  if (!first) return value;
  context.warnings.push({
    field: path,
    message: `the annotation is ignored: ${first.field} ${first.detail}`,
    fix: "correct its JSON, or write autoscaling/v2",
  });
  return undefined;
};

const readJson = <Value>(json: string, path: string, shape: Shape<Value>, own: ReadContext): Value | undefined => {
  try {
    return shape(JSON.parse(json), path, own);
  } catch {
    own.problems.push({ field: path, type: "FieldValueTypeInvalid", detail: "is not JSON", fix: "write JSON" });
    return undefined;
  }
};
