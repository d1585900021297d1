import type { ServerRule } from "./server-rule.ts";

const LEAST = "(has(self.minReplicas) ? self.minReplicas : 1)";

const stepWithinBounds = (way: "scaleUp" | "scaleDown"): ServerRule => ({
  says: `${way}.stepMinimum must be 1, or less than or equal to maxReplicas - minReplicas`,
  cel: `!has(self.${way}) || !has(self.${way}.stepMinimum) || self.${way}.stepMinimum <= 1 || self.${way}.stepMinimum <= self.maxReplicas - ${LEAST}`,
});

const fallbackWithinBounds: ServerRule = {
  says: "onMissing.replicas must lie within minReplicas and maxReplicas",
  cel: `!has(self.metrics) || self.metrics.all(metric, !has(metric.onMissing) || !has(metric.onMissing.replicas) || (metric.onMissing.replicas >= ${LEAST} && metric.onMissing.replicas <= self.maxReplicas))`,
};

const BLOCKS = ["object", "external", "pods", "resource", "containerResource"];
const MARKED = BLOCKS.map((block) => `(has(metric.${block}) && (has(metric.${block}.highWatermark) || has(metric.${block}.lowWatermark)))`).join(
  " || ",
);

const marksAboveZero: ServerRule = {
  says: "minReplicas may not be 0 together with watermarks",
  cel: `${LEAST} > 0 || !has(self.hpa) || !has(self.hpa.metrics) || !self.hpa.metrics.exists(metric, ${MARKED})`,
};

/** Rules between the spec and a field deep inside it. For people the rule of the inner field reports the problem; an API server only shows a rule its own object. */
export const WHOLE_SPEC_RULES: readonly ServerRule[] = [
  stepWithinBounds("scaleUp"),
  stepWithinBounds("scaleDown"),
  fallbackWithinBounds,
  marksAboveZero,
];
