import type { MetricOutcome } from "../../model/decision.ts";
import type { SpecKindName } from "../../model/spec-kinds.ts";
import type { Status } from "../../model/windows.ts";
import { conditionsOf, type Json, METRICS_TIME, READY, type StatusContext, wholeSecondText } from "./object-conditions.ts";
import type { Evaluation } from "../../model/scale-records.ts";

/** The status of the object of an autoscaler: the same evaluation that the journal stores and `tidemark describe` shows. */
export const objectStatus = (kind: SpecKindName, evaluation: Evaluation, context: StatusContext): Json => {
  const conditions = conditionsOf(evaluation, context);
  return kind === "PodAutoscaler" ? ownStatus(evaluation, conditions, context) : watermarkStatus(evaluation, conditions, context);
};

/** Fields of the status of a PodAutoscaler that the definition of 0.2.0 does not have. */
export const NEWER_FIELDS = [METRICS_TIME];

const ownStatus = (evaluation: Evaluation, conditions: readonly Json[], { generation, nowMs }: StatusContext): Json => {
  const { metrics, status } = evaluation;
  return {
    observedGeneration: generation,
    ...(status && { currentReplicas: status.currentReplicas, desiredReplicas: wantedReplicas(evaluation, status) }),
    ...(status?.lastScaleMs !== undefined && { lastScaleTime: wholeSecondText(status.lastScaleMs) }),
    ...(metrics.length > 0 && { targets: targetsText(metrics), metrics: metrics.map(metricOf), [METRICS_TIME]: wholeSecondText(nowMs) }),
    conditions: conditions.map((condition) => ({ ...condition, observedGeneration: generation })),
  };
};

/** Also where the API server refused the scale: the count that was wanted. */
const wantedReplicas = ({ refused, to }: Evaluation, { desiredReplicas }: Status): number => (refused && to !== undefined ? to : desiredReplicas);

const metricOf = (metric: MetricOutcome): Json => {
  if (metric.kind === "failed") return { name: metric.name, reason: metric.reason, message: metric.message };
  return { name: metric.name, value: metric.value, target: metric.target, proposal: metric.proposal };
};

/** Metrics in the column of `kubectl get`. */
const TARGETS_MAX = 3;

const targetsText = (metrics: readonly MetricOutcome[]): string => {
  const shown = metrics
    .slice(0, TARGETS_MAX)
    .map((metric) => (metric.kind === "failed" ? `${metric.name}: <unknown>` : `${metric.name}: ${metric.value}/${metric.target}`));
  const more = metrics.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` + ${more} more` : ""}`;
};

/**
 * The status of a WatermarkPodAutoscaler, in the fields of its own definition (watermark.md 1.5), so that the columns of `kubectl get wpa` stay. Its definition refuses a field that it does
 * not have, and older ones lack the last three: these are only written where the object has them.
 */
const watermarkStatus = ({ status }: Evaluation, conditions: readonly Json[], { generation, listed, scales, lastCondition }: StatusContext): Json => {
  const last = lastCondition ?? conditions.find(({ type }) => type === READY);
  const counted = listed["scalingEventsCount"];
  return {
    observedGeneration: generation,
    currentReplicas: status?.currentReplicas ?? 0,
    desiredReplicas: status?.desiredReplicas ?? 0,
    ...(status?.lastScaleMs !== undefined && { lastScaleTime: wholeSecondText(status.lastScaleMs) }),
    ...(status?.currentMetrics && { currentMetrics: status.currentMetrics }),
    conditions,
    ...(typeof counted === "number" && { scalingEventsCount: counted + scales }),
    ...("lastConditionType" in listed && { lastConditionType: last?.type }),
    ...("lastConditionState" in listed && { lastConditionState: last?.status }),
  };
};
