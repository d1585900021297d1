import { anything, int32, objectOf } from "../../fields/shape.ts";
import type { ReadForm } from "./hpa-draft.ts";
import { convertedMetric, LEGACY_METRICS, legacySource } from "./legacy-metrics.ts";
import { annotatedBehavior, behaviorSource } from "./read-v1.ts";
import { HEAD } from "./read-v2.ts";
import { CROSS_VERSION_REFERENCE, THRESHOLD_FIELDS } from "./v2-shape.ts";

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

/** Reads autoscaling/v2beta1 and hpa-v2's v2alpha1 (proposals.md §2). A behavior can only come in the annotation. */
export const readV2Beta1: ReadForm = (document, context) => {
  const read = V2_BETA_1(document, "", context);
  const { scaleTargetRef, minReplicas, maxReplicas, metrics, constraints } = read?.spec ?? {};
  const behavior = annotatedBehavior(read?.metadata?.annotations ?? {}, context);
  return {
    metadata: read?.metadata,
    spec: { scaleTargetRef, minReplicas, maxReplicas, metrics: metrics?.map(convertedMetric), behavior },
    behaviorDefaultedLate: true,
    constraints,
    thresholds: read?.spec,
    sourceOf: (field) => behaviorSource(field) ?? legacySource(field),
  };
};
