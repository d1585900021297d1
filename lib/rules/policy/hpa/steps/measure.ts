import type { MetricOutcome } from "../../../model/decision.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { measureMetric } from "../../shared/metrics/measure-metric.ts";
import type { Measurement, MetricContext } from "../../shared/metrics/measurement.ts";
import { toleranceOf } from "../../shared/arithmetic.ts";
import { warningEvent } from "../../shared/steps.ts";
import type { HpaStep, HpaSync } from "./sync.ts";

/**
 * hpa.md 2.5 step 4: every metric on its own, in order; one that fails leaves a blank slot and its
 * own event.
 */
export const measure: HpaStep = (sync) => measuredBy(measureMetric, sync);

/** The same with another way to measure one metric. */
export const measuredBy = (
  measureOne: (metric: HpaMetric, context: MetricContext) => Measurement,
  sync: HpaSync,
): HpaSync => {
  const context = contextOf(sync);
  return withMeasured(
    sync,
    sync.input.spec.metrics.map((metric) => ({
      type: metric.type,
      measurement: measureOne(metric, context),
    })),
  );
};

/** The sync with what was measured, and an event of each metric that failed. */
export const withMeasured = (
  sync: HpaSync,
  measured: readonly { readonly type: string; readonly measurement: Measurement }[],
): HpaSync => {
  const measurements = measured.map(({ measurement }) => measurement);
  return {
    ...sync,
    measurements,
    currentMetrics: measurements.map((measurement) =>
      measurement.kind === "measured" ? measurement.status : { type: "" },
    ),
    metrics: measured.map(({ type, measurement }) => outcomeOf(measurement, type)),
    events: [
      ...sync.events,
      ...measurements.flatMap((measurement) =>
        measurement.kind === "failed"
          ? [warningEvent(measurement.reason, measurement.message)]
          : [],
      ),
    ],
  };
};

const contextOf = ({ input, current, statusReplicas, selector, pods }: HpaSync): MetricContext => ({
  namespace: input.namespace,
  currentReplicas: current,
  statusReplicas,
  podSelector: selector,
  pods,
  answers: input.observation.answers,
  tolerance: toleranceOf(input.spec, input.settings),
  average: input.spec.thresholds?.average,
  readiness: { nowMs: input.nowMs, ...input.settings },
});

const outcomeOf = (measurement: Measurement, type: string): MetricOutcome => {
  if (measurement.kind === "failed") {
    const { name, reason, message } = measurement;
    return { name, type, kind: "failed", reason, message };
  }
  const { name, value, target, ratio, proposal } = measurement;
  // Nothing divided by nothing says nothing; it is left out rather than shown.
  return Number.isFinite(ratio)
    ? { name, type, kind: "measured", value, target, ratio, proposal }
    : { name, type, kind: "measured", value, target, proposal };
};
