import type { Json } from "../../fields/json.ts";
import { isObject } from "../../model/json.ts";
import { cleanMetadata } from "./clean-object.ts";
import type { Detail } from "./finding.ts";
import { triggerMetrics } from "./trigger-metrics.ts";

/** A ScaledObject as an HPA, and what becomes of the rest of it. Without a document nothing of it is imported. */
export interface ImportedScaledObject {
  readonly document?: Json;
  /** Entries of the schedule that only a PodAutoscaler has. */
  readonly schedule?: readonly Json[];
  readonly details: readonly Detail[];
}

/** Defaults of KEDA: `maxReplicaCount`, and the least count of the HPA that it makes. */
const DEFAULT_MAX = 100;
const LEAST_OF_HPA = 1;
const KEDA_ANNOTATION = /^(?:autoscaling|scaledobject)\.keda\.sh\//;
const PAUSED = "autoscaling.keda.sh/paused";
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";
const PAUSED_DIRECTIONS = [
  { annotation: "autoscaling.keda.sh/paused-scale-in", direction: "scaleDown" },
  { annotation: "autoscaling.keda.sh/paused-scale-out", direction: "scaleUp" },
] as const;
/** KEDA reads an annotation as Go reads a bool; any other text counts as true. */
const FALSE = /^(?:0|f|F|false|False|FALSE)$/;

const object = (value: unknown): Json => (isObject(value) ? value : {});

/**
 * KEDA makes an HPA of each ScaledObject: it has the names and targets of the external metrics, the bounds and the behavior. So the metrics come from that HPA, and from the triggers
 * only for cpu and memory.
 * Fails to no document: an autoscaler without one of its metrics would shrink to what the others need.
 */
export const importScaledObject = (raw: Json, hpa: Json | undefined): ImportedScaledObject => {
  const spec = object(raw["spec"]);
  const pause = pauseOf(raw);
  if (pause) return { details: [pause] };
  const most = typeof spec["maxReplicaCount"] === "number" ? spec["maxReplicaCount"] : DEFAULT_MAX;
  const { metrics, schedule, details: ofTriggers } = triggerMetrics(spec, { hpaSpec: hpa && object(hpa["spec"]), most });
  const details = [...ofTriggers, ...fieldDetails(spec), ...pausedDirections(raw).map(directionDetail)];
  if (metrics === undefined) return { details };
  return { document: hpaOf(raw, spec, metrics), ...(schedule.length > 0 && { schedule }), details };
};

const annotationOf = (raw: Json, name: string): unknown => object(object(raw["metadata"])["annotations"])[name];

const isOn = (raw: Json, name: string): boolean => {
  const value = annotationOf(raw, name);
  return value !== undefined && !FALSE.test(String(value));
};

const pauseOf = (raw: Json): Detail | undefined => {
  const key = annotationOf(raw, PAUSED_REPLICAS) !== undefined ? PAUSED_REPLICAS : isOn(raw, PAUSED) ? PAUSED : undefined;
  if (key === undefined) return undefined;
  const message = `it is paused by the annotation ${key}, and has no HPA while it is: resume it, or write its manifest and pause it with tidemark pause`;
  return { of: `metadata.annotations["${key}"]`, severity: "lost", message };
};

/** KEDA disables a direction in the HPA that it makes, whatever the behavior of the ScaledObject says. */
const pausedDirections = (raw: Json) => PAUSED_DIRECTIONS.filter(({ annotation }) => isOn(raw, annotation));

const behaviorOf = (raw: Json, spec: Json): Json | undefined => {
  const { behavior } = object(object(spec["advanced"])["horizontalPodAutoscalerConfig"]);
  const paused = pausedDirections(raw).map(({ direction }) => [direction, { ...object(object(behavior)[direction]), selectPolicy: "Disabled" }]);
  return behavior === undefined && paused.length === 0 ? undefined : { ...object(behavior), ...Object.fromEntries(paused) };
};

const directionDetail = ({ annotation, direction }: (typeof PAUSED_DIRECTIONS)[number]): Detail => ({
  of: `metadata.annotations["${annotation}"]`,
  severity: "changed",
  message: `it is selectPolicy: Disabled of spec.behavior.${direction} in the manifest: end it there, and not by the annotation`,
});

const hpaOf = (raw: Json, spec: Json, metrics: readonly unknown[]): Json => {
  const { apiVersion = "apps/v1", kind = "Deployment", name } = object(spec["scaleTargetRef"]);
  const behavior = behaviorOf(raw, spec);
  const { minReplicaCount, maxReplicaCount = DEFAULT_MAX } = spec;
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: cleanMetadata(raw, KEDA_ANNOTATION),
    spec: {
      scaleTargetRef: { apiVersion, kind, name },
      minReplicas: typeof minReplicaCount === "number" && minReplicaCount > 0 ? minReplicaCount : LEAST_OF_HPA,
      maxReplicas: maxReplicaCount,
      metrics,
      ...(behavior !== undefined && { behavior }),
    },
  };
};

/** Fields beside bounds, target, triggers and behavior. */
const fieldDetails = (spec: Json): readonly Detail[] => {
  const { minReplicaCount = 0, idleReplicaCount, cooldownPeriod, initialCooldownPeriod, pollingInterval, fallback } = spec;
  const { restoreToOriginalReplicaCount, scalingModifiers, horizontalPodAutoscalerConfig } = object(spec["advanced"]);
  const toZero = minReplicaCount === 0 || idleReplicaCount !== undefined;
  const only = (of: string, value: unknown): Detail[] =>
    value === undefined ? [] : [{ of, severity: "without effect", message: "it is about scaling to and from zero, which is not carried over" }];
  const modified = Object.keys(object(scalingModifiers)).length > 0;
  return [
    ...(minReplicaCount === 0 ? [zero("spec.minReplicaCount", "the least count is 1; KEDA goes to 0 while no trigger is active")] : []),
    ...(idleReplicaCount === undefined
      ? []
      : [zero("spec.idleReplicaCount", `the count stays at minReplicas while no trigger is active, and not at ${String(idleReplicaCount)}`)]),
    ...(toZero ? [...only("spec.cooldownPeriod", cooldownPeriod), ...only("spec.initialCooldownPeriod", initialCooldownPeriod)] : []),
    ...(pollingInterval === undefined ? [] : [polling(pollingInterval)]),
    ...(fallback === undefined ? [] : [fallbackDetail(fallback)]),
    ...(modified
      ? [
          {
            of: "spec.advanced.scalingModifiers",
            severity: "changed",
            message: "KEDA goes on to calculate it, and serves the result as one external metric",
          } as const,
        ]
      : []),
    ...(restoreToOriginalReplicaCount === true ? [restore()] : []),
    ...(object(horizontalPodAutoscalerConfig)["name"] === undefined ? [] : [hpaName()]),
  ];
};

const zero = (of: string, message: string): Detail => ({ of, severity: "changed", message });

const polling = (seconds: unknown): Detail => ({
  of: "spec.pollingInterval",
  severity: "changed",
  message: `metrics are read in every sync of the cluster, and not every ${String(seconds)} s`,
});

/** KEDA serves a value in the place of a metric that fails. */
const fallbackDetail = (fallback: unknown): Detail => {
  const { failureThreshold, replicas } = object(fallback);
  const message = `KEDA still acts on it: when a trigger has failed more than ${String(failureThreshold)} times, its metric asks for ${String(replicas)} replicas; before that, and without KEDA, the count is held`;
  return { of: "spec.fallback", severity: "changed", message };
};

const restore = (): Detail => ({
  of: "spec.advanced.restoreToOriginalReplicaCount",
  severity: "changed",
  message: "KEDA sets the count back when the ScaledObject is deleted: pause it instead (tidemark takeover does)",
});

const hpaName = (): Detail => ({
  of: "spec.advanced.horizontalPodAutoscalerConfig.name",
  severity: "without effect",
  message: "it is the name of KEDA's HPA; the autoscaler has the name of the ScaledObject",
});
