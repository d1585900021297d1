import { applying, changed, lost, withoutEffect } from "./schedules/timed.ts";
import { asList, asObject, type Json } from "../../model/json.ts";
import { cleanMetadata, type Detail } from "./finding.ts";
import { kedaCron } from "./schedules/actions.ts";

/**
 * A ScaledObject as an HPA, and what becomes of the rest of it. Without a document nothing of it is
 * imported.
 */
export interface ImportedScaledObject {
  readonly document?: Json;
  /** Entries of the schedule that only a PodAutoscaler has. */
  readonly schedule?: readonly Json[];
  readonly details: readonly Detail[];
}

/** Defaults of KEDA: `maxReplicaCount`, and the least count of the HPA that it makes. */
export const DEFAULT_MAX = 100;
const LEAST_OF_HPA = 1;
const KEDA_ANNOTATION = /^(?:autoscaling|scaledobject)\.keda\.sh\//;
const PAUSED_DIRECTIONS = [
  { name: "paused-scale-in", direction: "scaleDown" },
  { name: "paused-scale-out", direction: "scaleUp" },
] as const;
/** KEDA reads an annotation as Go reads a bool; any other text counts as true. */
const FALSE = /^(?:0|f|F|false|False|FALSE)$/;

/**
 * KEDA makes an HPA of each ScaledObject: it has the names and targets of the external metrics, the
 * bounds and the behavior. So the metrics come from that HPA, and from the triggers only for cpu
 * and memory. On doubt, no document: an autoscaler without one of its metrics would shrink to what
 * the others need.
 */
export const importScaledObject = (raw: Json, hpa: Json | undefined): ImportedScaledObject => {
  const spec = asObject(raw["spec"]);
  const pause = pauseOf(raw);
  if (pause) return { details: [pause] };
  const most = typeof spec["maxReplicaCount"] === "number" ? spec["maxReplicaCount"] : DEFAULT_MAX;
  const {
    metrics,
    schedule,
    details: ofTriggers,
  } = triggerMetrics(spec, { hpaSpec: hpa && asObject(hpa["spec"]), most });
  const details = [
    ...ofTriggers,
    ...fieldDetails(spec),
    ...pausedDirections(raw).map(directionDetail),
  ];
  if (metrics === undefined) return { details };
  return { document: hpaOf(raw, spec, metrics), ...(schedule.length > 0 && { schedule }), details };
};

/** KEDA goes on to read what its triggers say, and serves their metrics. */
export const staysWithKeda = (path: string): boolean =>
  /^spec\.(?:triggers\[|advanced\.scalingModifiers\.|fallback\.)/.test(path);

const keyOf = (name: string): string => `autoscaling.keda.sh/${name}`;
const placeOf = (name: string): string => `metadata.annotations["${keyOf(name)}"]`;

/** An annotation of KEDA about how it scales. */
export const annotationOf = (raw: Json, name: string): unknown =>
  asObject(asObject(raw["metadata"])["annotations"])[keyOf(name)];

export const isOn = (raw: Json, name: string): boolean => {
  const value = annotationOf(raw, name);
  return value !== undefined && !FALSE.test(String(value));
};

/** What becomes of such an annotation. */
export const ofAnnotation = (name: string, message: string): Detail =>
  changed(placeOf(name), message);

const pauseOf = (raw: Json): Detail | undefined => {
  const name =
    annotationOf(raw, "paused-replicas") !== undefined
      ? "paused-replicas"
      : isOn(raw, "paused")
        ? "paused"
        : undefined;
  if (name === undefined) return undefined;
  const words =
    "has no HPA while it is: resume it, or write its manifest and pause it with tidemark pause";
  return lost(placeOf(name), `it is paused by the annotation ${keyOf(name)}, and ${words}`);
};

/**
 * KEDA disables a direction in the HPA that it makes, whatever the behavior of the ScaledObject
 * says.
 */
const pausedDirections = (raw: Json) => PAUSED_DIRECTIONS.filter(({ name }) => isOn(raw, name));

/** The behavior that a ScaledObject asks for; undefined where it says none. */
export const writtenBehavior = (spec: Json): unknown =>
  asObject(asObject(spec["advanced"])["horizontalPodAutoscalerConfig"])["behavior"];

const behaviorOf = (raw: Json, spec: Json): Json | undefined => {
  const behavior = writtenBehavior(spec);
  const paused = pausedDirections(raw).map(({ direction }) => [
    direction,
    { ...asObject(asObject(behavior)[direction]), selectPolicy: "Disabled" },
  ]);
  return behavior === undefined && paused.length === 0
    ? undefined
    : { ...asObject(behavior), ...Object.fromEntries(paused) };
};

const directionDetail = ({ name, direction }: (typeof PAUSED_DIRECTIONS)[number]): Detail =>
  ofAnnotation(
    name,
    `it is selectPolicy: Disabled of spec.behavior.${direction} in the manifest: end it there, and not by the annotation`,
  );

const hpaOf = (raw: Json, spec: Json, metrics: readonly unknown[]): Json => {
  const { apiVersion = "apps/v1", kind = "Deployment", name } = asObject(spec["scaleTargetRef"]);
  const behavior = behaviorOf(raw, spec);
  const { minReplicaCount, maxReplicaCount = DEFAULT_MAX } = spec;
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: cleanMetadata(raw, KEDA_ANNOTATION),
    spec: {
      scaleTargetRef: { apiVersion, kind, name },
      minReplicas:
        typeof minReplicaCount === "number" && minReplicaCount > 0 ? minReplicaCount : LEAST_OF_HPA,
      maxReplicas: maxReplicaCount,
      metrics,
      ...(behavior !== undefined && { behavior }),
    },
  };
};

/**
 * Fields beside bounds, target, triggers and behavior. KEDA serves a value in the place of a metric
 * that fails.
 */
const fieldDetails = (spec: Json): readonly Detail[] => {
  const {
    minReplicaCount = 0,
    idleReplicaCount,
    cooldownPeriod,
    initialCooldownPeriod,
    pollingInterval,
    fallback,
  } = spec;
  const { restoreToOriginalReplicaCount, scalingModifiers, horizontalPodAutoscalerConfig } =
    asObject(spec["advanced"]);
  const { failureThreshold, replicas } = asObject(fallback);
  const toZero = minReplicaCount === 0 || idleReplicaCount !== undefined;
  const aboutZero = "it is about scaling to and from zero, which is not carried over";
  const idle = `the count stays at minReplicas while no trigger is active, and not at ${String(idleReplicaCount)}`;
  const polling = `metrics are read in every sync of the cluster, and not every ${String(pollingInterval)} s`;
  const missing = `KEDA still acts on it: when a trigger has failed more than ${String(failureThreshold)} times, its metric asks for ${String(replicas)} replicas; before that, and without KEDA, the count is held`;
  const modifiers = "KEDA goes on to calculate it, and serves the result as one external metric";
  const restore =
    "KEDA sets the count back when the ScaledObject is deleted: pause it instead (tidemark takeover does)";
  const name = "it is the name of KEDA's HPA; the autoscaler has the name of the ScaledObject";
  return applying([
    [
      minReplicaCount === 0,
      changed(
        "spec.minReplicaCount",
        "the least count is 1; KEDA goes to 0 while no trigger is active",
      ),
    ],
    [idleReplicaCount !== undefined, changed("spec.idleReplicaCount", idle)],
    [toZero && cooldownPeriod !== undefined, withoutEffect("spec.cooldownPeriod", aboutZero)],
    [
      toZero && initialCooldownPeriod !== undefined,
      withoutEffect("spec.initialCooldownPeriod", aboutZero),
    ],
    [pollingInterval !== undefined, changed("spec.pollingInterval", polling)],
    [fallback !== undefined, changed("spec.fallback", missing)],
    [
      Object.keys(asObject(scalingModifiers)).length > 0,
      changed("spec.advanced.scalingModifiers", modifiers),
    ],
    [
      restoreToOriginalReplicaCount === true,
      changed("spec.advanced.restoreToOriginalReplicaCount", restore),
    ],
    [
      asObject(horizontalPodAutoscalerConfig)["name"] !== undefined,
      withoutEffect("spec.advanced.horizontalPodAutoscalerConfig.name", name),
    ],
  ]);
};

interface TriggerMetrics {
  /** Undefined where one of them is not known. */
  readonly metrics: readonly unknown[] | undefined;
  /** Entries of a schedule, of triggers `cron`. */
  readonly schedule: readonly Json[];
  readonly details: readonly Detail[];
}

/**
 * Each trigger as a metric of an HPA: cpu and memory by themselves, a cron trigger beside others as
 * an entry of a schedule, any other as the external metric that KEDA serves under the name in its
 * HPA. Cron triggers without another one stay metrics of KEDA: a schedule has no metric that lets
 * the count fall after its windows.
 */
const triggerMetrics = (
  spec: Json,
  { hpaSpec, most }: { readonly hpaSpec: Json | undefined; readonly most: number },
): TriggerMetrics => {
  const triggers = asList(spec["triggers"]).map(asObject);
  const { minReplicaCount } = spec;
  const least = Math.max(LEAST_OF_HPA, Number(minReplicaCount ?? 0));
  const formula = asObject(asObject(spec["advanced"])["scalingModifiers"])["formula"] !== undefined;
  const isCron = (trigger: Json): boolean =>
    trigger["type"] === "cron" && !formula && triggers.some(({ type }) => type !== "cron");
  const read = triggers.map((trigger, index): ReadTrigger => {
    const cron = isCron(trigger) ? kedaCron(trigger, { index, most, least }) : undefined;
    return cron && cron.entries.length > 0 ? cron : metricOf(trigger, { index, hpaSpec, formula });
  });
  const schedule = read.flatMap(({ entries = [] }) => entries);
  const isLost = read.some(({ detail }) => detail?.severity === "lost") || triggers.length === 0;
  const details = [
    ...read.flatMap(({ detail }) => detail ?? []),
    ...(triggers.length === 0 ? [NO_TRIGGER] : []),
  ];
  if (isLost) return { metrics: undefined, schedule, details };
  const metrics = read.flatMap(({ metric }) => metric ?? []);
  return {
    metrics: formula ? [...metrics, ...externalMetrics(hpaSpec)] : metrics,
    schedule,
    details,
  };
};

export const NO_TRIGGER = lost("spec.triggers", "it has no trigger");

interface TriggerPlace {
  readonly index: number;
  readonly hpaSpec: Json | undefined;
  /** True where one calculated metric stands for the metrics of all triggers but cpu and memory. */
  readonly formula: boolean;
}

interface ReadTrigger {
  readonly entries?: readonly Json[];
  readonly metric?: unknown;
  readonly detail?: Detail;
}

const metricOf = (trigger: Json, among: TriggerPlace): ReadTrigger => {
  const type = String(trigger["type"]);
  return type === "cpu" || type === "memory"
    ? resourceMetric(trigger, type, among.index)
    : externalMetric(type, among);
};

export const triggerLabel = (index: number, type: string): string =>
  `spec.triggers[${index}] (${type})`;

/** `metadata.type` is what earlier versions of KEDA call `metricType`. */
const resourceMetric = (trigger: Json, type: "cpu" | "memory", index: number): ReadTrigger => {
  const { value, containerName, type: formerType } = asObject(trigger["metadata"]);
  const kind = trigger["metricType"] ?? formerType ?? "Utilization";
  const target = targetOf(String(kind), value);
  const noTarget = `its metricType "${String(kind)}" with the value "${String(value)}" is no target of a resource metric`;
  if (target === undefined) return { detail: lostTrigger(index, type, noTarget) };
  if (typeof containerName === "string" && containerName !== "")
    return {
      metric: {
        type: "ContainerResource",
        containerResource: { name: type, container: containerName, target },
      },
    };
  return { metric: { type: "Resource", resource: { name: type, target } } };
};

const targetOf = (kind: string, value: unknown): Json | undefined => {
  if (kind === "AverageValue" && typeof value === "string" && value !== "")
    return { type: "AverageValue", averageValue: value };
  const percent = Number(value);
  return kind === "Utilization" && Number.isInteger(percent) && percent > 0
    ? { type: "Utilization", averageUtilization: percent }
    : undefined;
};

const externalMetric = (type: string, { index, hpaSpec, formula }: TriggerPlace): ReadTrigger => {
  const noHpa =
    "KEDA's HPA of this ScaledObject does not exist, so that name and target of its external metric are not known";
  if (hpaSpec === undefined) return { detail: lostTrigger(index, type, noHpa) };
  const served = externalMetrics(hpaSpec);
  const own = served.find((metric) => nameOf(metric).startsWith(`s${index}-`));
  if (formula && served.length > 0)
    return { detail: dependsOnKeda(index, type, "is a part of the metric that KEDA calculates") };
  if (own === undefined)
    return {
      detail: lostTrigger(
        index,
        type,
        `KEDA's HPA has no external metric of it: none begins with "s${index}-"`,
      ),
    };
  return {
    metric: own,
    detail: dependsOnKeda(index, type, `is the external metric "${nameOf(own)}"`),
  };
};

const externalMetrics = (hpaSpec: Json | undefined): readonly Json[] =>
  asList(hpaSpec?.["metrics"])
    .map(asObject)
    .filter(({ type }) => type === "External");

const nameOf = (metric: Json): string =>
  String(asObject(asObject(metric["external"])["metric"])["name"]);

const lostTrigger = (index: number, type: string, message: string): Detail =>
  lost(triggerLabel(index, type), message);

const dependsOnKeda = (index: number, type: string, words: string): Detail =>
  changed(
    triggerLabel(index, type),
    `it ${words}, which KEDA serves while it runs and the ScaledObject exists: keep both, with the ScaledObject paused`,
  );
