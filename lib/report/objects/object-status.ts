import type { MetricOutcome } from "../../model/decision.ts";
import type { Evaluation } from "../../model/records.ts";
import type { SpecKindName } from "../../model/spec-kinds.ts";
import type { Condition } from "../../model/windows.ts";
import { watermarkStatus } from "./watermark-status.ts";

export type Json = Readonly<Record<string, unknown>>;

/** What a status is made of, beside the evaluation. */
export interface StatusContext {
  /** The generation of the object that was decided on. */
  readonly generation: number;
  readonly nowMs: number;
  /** The status of the object as the LIST of this sync has it; empty where it has none. */
  readonly listed: Json;
  /** Scales of this sync that count as made. */
  readonly scales: number;
}

/** The condition that says in one word and one sentence why the count is as it is. Every object has it. */
export const READY = "Ready";

/** The status of the object of an autoscaler: the same evaluation that the journal stores and `tidemark describe` shows. */
export const objectStatus = (kind: SpecKindName, evaluation: Evaluation, context: StatusContext): Json => {
  const conditions = conditionsOf(evaluation, context);
  return kind === "PodAutoscaler" ? ownStatus(evaluation, conditions, context) : watermarkStatus(evaluation, conditions, context);
};

const ownStatus = (evaluation: Evaluation, conditions: readonly Json[], { generation }: StatusContext): Json => {
  const { metrics, status } = evaluation;
  return {
    observedGeneration: generation,
    ...(status && { currentReplicas: status.currentReplicas, desiredReplicas: status.desiredReplicas }),
    ...(status?.lastScaleMs !== undefined && { lastScaleTime: timeText(status.lastScaleMs) }),
    ...(metrics.length > 0 && { targets: targetsText(metrics), metrics: metrics.map(metricOf) }),
    conditions: conditions.map((condition) => ({ ...condition, observedGeneration: generation })),
  };
};

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

const conditionsOf = (evaluation: Evaluation, context: StatusContext): readonly Json[] => [
  readyOf(evaluation, context),
  ...(evaluation.status?.conditions ?? []).map(conditionOf),
];

const conditionOf = ({ type, status, reason, message, transitionMs }: Condition): Json => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: timeText(transitionMs),
});

/** False while nothing could be decided, or something beside the rules keeps the count. The time of its last change is that of the object itself, so that nothing is stored for it. */
const readyOf = ({ failed, because, withoutHold }: Evaluation, { listed, nowMs }: StatusContext): Json => {
  const status = failed || withoutHold ? "False" : "True";
  const before = listedConditions(listed).find(({ type }) => type === READY);
  const sinceText = before?.["status"] === status ? before["lastTransitionTime"] : undefined;
  return {
    type: READY,
    status,
    reason: because.reason,
    message: because.message,
    lastTransitionTime: typeof sinceText === "string" ? sinceText : timeText(nowMs),
  };
};

/** The conditions of a status that the cluster gave; anything else in it is left out. */
export const listedConditions = ({ conditions }: Json): readonly Json[] =>
  Array.isArray(conditions) ? conditions.filter((condition): condition is Json => typeof condition === "object" && condition !== null) : [];

/** RFC 3339 in whole seconds, as an API server writes it. */
export const timeText = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, -".000Z".length)}Z`;
