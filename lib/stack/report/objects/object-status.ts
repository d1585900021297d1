import type { MetricOutcome } from "../../../rules/model/decision.ts";
import { asList, isObject, type Json } from "../../../rules/model/json.ts";
import type { SpecKindName } from "../../../rules/model/spec.ts";
import type { Status, Condition } from "../../../rules/model/windows.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import { podRemarks, podsCondition } from "./pod-remarks.ts";
import { seriousRefusal, scaleRefused } from "../evaluation-state.ts";

/** When the metrics of a status were measured. */
export const METRICS_TIME = "metricsTime";

/**
 * The status of the object of an autoscaler: the same evaluation that the journal stores and
 * `tidemark describe` shows.
 */
export const objectStatus = (
  kind: SpecKindName,
  evaluation: Evaluation,
  context: StatusContext,
): Json => {
  const conditions = conditionsOf(evaluation, context);
  return kind === "PodAutoscaler"
    ? ownStatus(evaluation, conditions, context)
    : watermarkStatus(evaluation, conditions, context);
};

/** Fields of the status of a PodAutoscaler that the first published definition does not have. */
export const NEWER_FIELDS = [METRICS_TIME];

const ownStatus = (
  evaluation: Evaluation,
  conditions: readonly Json[],
  { generation, nowMs }: StatusContext,
): Json => {
  const { metrics, status } = evaluation;
  return {
    observedGeneration: generation,
    ...(status && {
      currentReplicas: status.currentReplicas,
      desiredReplicas: wantedReplicas(evaluation, status),
    }),
    ...(status?.lastScaleMs !== undefined && {
      lastScaleTime: wholeSecondText(status.lastScaleMs),
    }),
    ...(metrics.length > 0 && {
      targets: targetsText(metrics),
      metrics: metrics.map(metricOf),
      [METRICS_TIME]: wholeSecondText(nowMs),
    }),
    conditions: conditions.map((condition) => ({ ...condition, observedGeneration: generation })),
  };
};

/** Also where the API server refused the scale: the count that was wanted. */
const wantedReplicas = ({ refused, to }: Evaluation, { desiredReplicas }: Status): number =>
  refused && to !== undefined ? to : desiredReplicas;

const metricOf = (metric: MetricOutcome): Json => {
  if (metric.kind === "failed")
    return { name: metric.name, reason: metric.reason, message: metric.message };
  return {
    name: metric.name,
    value: metric.value,
    target: metric.target,
    proposal: metric.proposal,
  };
};

/** Metrics in the column of `kubectl get`. */
const TARGETS_MAX = 3;

const targetsText = (metrics: readonly MetricOutcome[]): string => {
  const shown = metrics
    .slice(0, TARGETS_MAX)
    .map((metric) =>
      metric.kind === "failed"
        ? `${metric.name}: <unknown>`
        : `${metric.name}: ${metric.value}/${metric.target}`,
    );
  const more = metrics.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` + ${more} more` : ""}`;
};

/**
 * The status of a WatermarkPodAutoscaler, in the fields of its own definition (watermark.md 1.5),
 * so that the columns of `kubectl get wpa` stay. Its definition refuses a field that it does not
 * have, and older ones lack the last three: these are only written where the object has them.
 */
const watermarkStatus = (
  { status }: Evaluation,
  conditions: readonly Json[],
  { generation, listed, scales, lastCondition }: StatusContext,
): Json => {
  const last = lastCondition ?? conditions.find(({ type }) => type === READY);
  const counted = listed["scalingEventsCount"];
  return {
    observedGeneration: generation,
    currentReplicas: status?.currentReplicas ?? 0,
    desiredReplicas: status?.desiredReplicas ?? 0,
    ...(status?.lastScaleMs !== undefined && {
      lastScaleTime: wholeSecondText(status.lastScaleMs),
    }),
    ...(status?.currentMetrics && { currentMetrics: status.currentMetrics }),
    conditions,
    ...(typeof counted === "number" && { scalingEventsCount: counted + scales }),
    ...("lastConditionType" in listed && { lastConditionType: last?.type }),
    ...("lastConditionState" in listed && { lastConditionState: last?.status }),
  };
};

/** What a status is made of, beside the evaluation. */
export interface StatusContext {
  /** The generation of the object that was decided on. */
  readonly generation: number;
  readonly nowMs: number;
  /** The status of the object as the LIST of this sync has it; empty where it has none. */
  readonly listed: Json;
  /**
   * Decisions to scale of this sync: scales that count as made, and one that a dry run kept from
   * being made.
   */
  readonly scales: number;
  /** True where only pods count that the target owns and that have not ended. */
  readonly ownPodsOnly: boolean;
  /** The condition that the rules or the write set last. Absent where they set none. */
  readonly lastCondition?: Pick<Condition, "type" | "status">;
}

/**
 * The condition that says in one word and one sentence why the count is as it is. Every object has
 * it.
 */
export const READY = "Ready";

/**
 * The reason of a hold that a person has set for some time (lib/rules/policy/override.ts). A pause
 * or a dry run of the manifest is what the author of the object wants.
 */
const HELD_BY_OVERRIDE = "HeldByOverride";

/** The conditions of an object: why the count is as it is, then the conditions of the rules. */
const conditionsOf = (evaluation: Evaluation, context: StatusContext): readonly Json[] => [
  readyOf(evaluation, context),
  ...waitingOf(evaluation, context),
  ...podsOf(evaluation, context),
  ...(evaluation.status?.conditions ?? []).map(conditionOf),
];

const conditionOf = ({ type, status, reason, message, transitionMs }: Condition): Json => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: wholeSecondText(transitionMs),
});

/**
 * False while nothing could be decided, something beside the rules keeps the count, or the scale
 * was refused. The object itself has the time of its last change, so that nothing is stored for it.
 */
const readyOf = (evaluation: Evaluation, { listed, nowMs }: StatusContext): Json => {
  const refusal = seriousRefusal(evaluation);
  const status =
    evaluation.failed ||
    evaluation.withoutHold ||
    refusal ||
    evaluation.because.reason === HELD_BY_OVERRIDE
      ? "False"
      : "True";
  const because = refusal ? scaleRefused(evaluation, refusal) : evaluation.because;
  return {
    type: READY,
    status,
    reason: because.reason,
    message: because.message,
    lastTransitionTime: sinceText(READY, status, { listed, nowMs }),
  };
};

/** When the object got a condition of this status. */
const sinceText = (
  type: string,
  status: string,
  { listed, nowMs }: Pick<StatusContext, "listed" | "nowMs">,
): string => {
  const before = listedConditions(listed).find((condition) => condition["type"] === type);
  const since = before?.["status"] === status ? before["lastTransitionTime"] : undefined;
  return typeof since === "string" ? since : wholeSecondText(nowMs);
};

/**
 * While the object has a newer spec that is not stored yet: which generation is followed, and until
 * when.
 */
const waitingOf = ({ waiting }: Evaluation, context: StatusContext): readonly Json[] => {
  if (!waiting) return [];
  const lastTransitionTime = sinceText(SPEC_STORED, "False", context);
  return [
    {
      type: SPEC_STORED,
      status: "False",
      reason: waiting.reason,
      message: waiting.message,
      lastTransitionTime,
    },
  ];
};
const SPEC_STORED = "SpecStored";

/** While pods count that are none of the target's, or something else about them is unusual. */
const podsOf = (evaluation: Evaluation, context: StatusContext): readonly Json[] => {
  const condition = podsCondition(podRemarks(evaluation, context.ownPodsOnly));
  if (!condition) return [];
  const lastTransitionTime = sinceText(condition.type, condition.status, context);
  return [{ ...condition, lastTransitionTime }];
};

/** The conditions of a status that the cluster gave; anything else in it is left out. */
export const listedConditions = ({ conditions }: Json): readonly Json[] =>
  asList(conditions).filter(isObject);

/** RFC 3339 in whole seconds, as an API server writes it. */
export const wholeSecondText = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, -".000Z".length)}Z`;
