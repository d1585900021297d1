import { asList, asObject, type Json, present } from "../../../model/json.ts";
import { cleanMetadata, type Detail } from "../finding.ts";
import { kedaCron } from "../schedules/actions.ts";
import { applying, changed, lost, textOf, withoutEffect } from "../schedules/timed.ts";
import {
  annotationOf,
  DEFAULT_MAX,
  type ImportedScaledObject,
  isOn,
  NO_TRIGGER,
  ofAnnotation,
  triggerLabel,
  writtenBehavior,
} from "../scaled-object.ts";
import { blockOf, type Trigger } from "./triggers.ts";

/** The registered source of a trigger: by its name, by its authentication, or by its type. */
export type TriggerSources = Readonly<Record<string, string>>;

/** Defaults of KEDA 2.21. */
const KEDA = { cooldownSeconds: 300, pollingSeconds: 30 } as const;
const ANNOTATION = /^(?:autoscaling|scaledobject|validations)\.keda\.sh\//;

const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

/**
 * A ScaledObject as a PodAutoscaler that needs KEDA no more: each trigger is a metric of a
 * registered source, and scaling to zero is `idle`. On doubt, no document: an autoscaler without
 * one of its metrics would shrink to what the others need.
 */
export const nativeScaledObject = (raw: Json, sources: TriggerSources): ImportedScaledObject => {
  const written = asObject(raw["spec"]);
  const most = numberOf(written["maxReplicaCount"], DEFAULT_MAX);
  const triggers = asList(written["triggers"]).map((trigger, index) =>
    triggerOf(asObject(trigger), index, sources),
  );
  const awake = triggers.every(({ type }) => OF_THE_CLUSTER.has(type)) && mayIdle(written);
  // Of cpu and memory KEDA never learns that a workload is out of use, and keeps it at 1 at least.
  const spec = awake
    ? {
        ...written,
        minReplicaCount: Math.max(1, numberOf(written["minReplicaCount"], 0)),
        idleReplicaCount: undefined,
      }
    : written;
  const modifiers = asObject(asObject(spec["advanced"])["scalingModifiers"]);
  const formula = textOf(modifiers["formula"]);
  const cron = triggers.map((trigger, index) =>
    trigger.type === "cron" && formula === undefined
      ? kedaCron(trigger.raw, { index, most })
      : undefined,
  );
  const pauses = pausesOf(raw, spec);
  const missing = missingOf(spec, most, pauses);
  const read = triggers
    .filter((_, at) => cron[at] === undefined)
    .map((trigger) => metricOf(trigger, { spec, formula, onMissing: missing.onMissing }));
  const details = [
    ...(triggers.length === 0 ? [NO_TRIGGER] : []),
    ...(awake && triggers.length > 0
      ? [
          changed(
            "spec.minReplicaCount",
            "the least count is 1, as in KEDA: cpu and memory do not start a workload without pods",
          ),
        ]
      : []),
    ...cron.flatMap((entry) => entry?.detail ?? []),
    ...read.flatMap(({ details: of }) => of),
    ...missing.details,
    ...pauses.details,
    ...fieldDetails(spec),
  ];
  if (details.some(({ severity }) => severity === "lost")) return { details };
  const schedule = cron.flatMap((entry) => entry?.entries ?? []);
  const metrics = [
    ...read.map(({ metric }) => metric),
    ...(schedule.length > 0 && needsRest(triggers, spec) ? [restMetric(spec)] : []),
    ...(formula === undefined
      ? []
      : [formulaMetric(modifiers, formula, { spec, onMissing: missing.onMissing })]),
  ];
  return {
    document: documentOf(raw, { spec, most, metrics, pauses }),
    ...(schedule.length > 0 && { schedule }),
    details,
  };
};

const OF_THE_CLUSTER: ReadonlySet<string> = new Set(["cpu", "memory"]);

/**
 * True where nothing but cron says what the count is outside of its windows: no trigger at all, or
 * none that can put the workload to rest.
 */
const needsRest = (triggers: readonly Trigger[], spec: Json): boolean => {
  const others = triggers.filter(({ type }) => type !== "cron");
  return (
    others.length === 0 || (mayIdle(spec) && others.every(({ type }) => OF_THE_CLUSTER.has(type)))
  );
};

/**
 * Outside of its windows cron of KEDA asks for the least count, and is not active. A schedule asks
 * for nothing, so that a metric must say so.
 */
const restMetric = (spec: Json): Json => ({
  name: "cron",
  formula: { expression: "0" },
  target: 1,
  ...toleranceOf(spec),
  ...(mayIdle(spec) && { activation: 0 }),
});

const triggerOf = (raw: Json, index: number, sources: TriggerSources): Trigger => {
  const type = String(raw["type"]);
  const name = textOf(raw["name"]) ?? `${type}-${index}`;
  const authentication = textOf(asObject(raw["authenticationRef"])["name"]) ?? "";
  return {
    type,
    name,
    of: triggerLabel(index, type),
    metadata: asObject(raw["metadata"]),
    raw,
    source: sources[name] ?? sources[authentication] ?? sources[type],
  };
};

interface Among {
  readonly spec: Json;
  readonly formula: string | undefined;
  readonly onMissing: Json;
}

type ReadMetric = { readonly metric?: Json; readonly details: readonly Detail[] };

const metricOf = (trigger: Trigger, among: Among): ReadMetric =>
  trigger.type === "cpu" || trigger.type === "memory"
    ? resourceOf(trigger, among)
    : outsideOf(trigger, among);

/**
 * `metadata.type` is what earlier versions of KEDA call `metricType`. An HPA without one of its
 * metrics may grow, and does not shrink.
 */
const resourceOf = ({ type, name, of, metadata, raw }: Trigger, { spec }: Among): ReadMetric => {
  const kind = String(raw["metricType"] ?? metadata["type"] ?? "Utilization");
  const measure = { Utilization: "Percent", AverageValue: "Average" }[kind];
  const target = textOf(metadata["value"]);
  if (measure === undefined || target === undefined)
    return {
      details: [
        lost(
          of,
          `metricType "${kind}" with the value "${String(target)}" is no target of a resource`,
        ),
      ],
    };
  const container = textOf(metadata["containerName"]);
  const block =
    container === undefined
      ? { resource: { name: type } }
      : { containerResource: { name: type, container } };
  return {
    metric: {
      name,
      ...block,
      measure,
      target: amountOf(target),
      ...toleranceOf(spec),
      onMissing: { action: "scaleUpOnly" },
    },
    details: [],
  };
};

const MEASURES: Readonly<Record<string, string>> = { AverageValue: "Average", Value: "Total" };

const outsideOf = (trigger: Trigger, { spec, formula, onMissing }: Among): ReadMetric => {
  const { name, of, raw } = trigger;
  const found = blockOf(trigger);
  if ("refused" in found) return { details: [found.refused] };
  const { block, target, activation = "0", details } = found;
  const every =
    raw["useCachedMetrics"] === true
      ? { everySeconds: numberOf(spec["pollingInterval"], KEDA.pollingSeconds) }
      : {};
  if (formula !== undefined) return { metric: { name, ...block, ...every, input: true }, details };
  const kind = textOf(raw["metricType"]) ?? "AverageValue";
  const measure = MEASURES[kind];
  if (measure === undefined)
    return {
      details: [...details, lost(of, `metricType "${kind}" is none of AverageValue and Value`)],
    };
  if (target === undefined) return { details: [...details, lost(of, "it has no target")] };
  const activated = mayIdle(spec) ? { activation: amountOf(activation) } : {};
  return {
    metric: {
      name,
      ...block,
      ...every,
      measure,
      target: amountOf(target),
      ...toleranceOf(spec),
      ...activated,
      onMissing,
    },
    details,
  };
};

const formulaMetric = (
  modifiers: Json,
  expression: string,
  { spec, onMissing }: Pick<Among, "spec" | "onMissing">,
): Json => ({
  name: "composite",
  formula: { expression },
  measure: MEASURES[textOf(modifiers["metricType"]) ?? "AverageValue"],
  target: amountOf(modifiers["target"]),
  ...toleranceOf(spec),
  ...(mayIdle(spec) && { activation: amountOf(modifiers["activationTarget"] ?? "0") }),
  onMissing,
});

/** KEDA writes numbers as texts. */
const amountOf = (value: unknown): unknown => {
  const text = String(value).trim();
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
};

const behaviorOf = (spec: Json): Json => asObject(writtenBehavior(spec));

/** A tolerance of autoscaling/v2 is of a direction, and here of a metric. */
const toleranceOf = (spec: Json): Json => {
  const { scaleUp, scaleDown } = behaviorOf(spec);
  const [up, down] = [asObject(scaleUp)["tolerance"], asObject(scaleDown)["tolerance"]];
  return up === undefined && down === undefined ? {} : { tolerance: present({ up, down }) };
};

/**
 * A count below the least one that triggers may ask for: KEDA goes there by itself, past the HPA.
 */
const mayIdle = ({ minReplicaCount = 0, idleReplicaCount }: Json): boolean =>
  minReplicaCount === 0 || idleReplicaCount !== undefined;

interface Missing {
  readonly onMissing: Json;
  readonly details: readonly Detail[];
}

/** An HPA grows on its other metrics while one is missing, and does not shrink. */
const missingOf = (
  spec: Json,
  most: number,
  { fields: { maxReplicas: pausedAt } }: Pauses,
): Missing => {
  const { fallback, minReplicaCount, pollingInterval } = spec;
  if (fallback === undefined) return { onMissing: { action: "scaleUpOnly" }, details: [] };
  const { failureThreshold, replicas, behavior = "static" } = asObject(fallback);
  const asked = numberOf(replicas, 0);
  const held = (...why: readonly string[]): Missing => ({
    onMissing: { action: "hold" },
    details: why.map((words) => changed("spec.fallback", words)),
  });
  if (pausedAt !== undefined)
    return held("the bounds are equal while it is paused: write the fallback where the pause ends");
  if (behavior === "currentReplicas") return held();
  if (behavior === "scalingModifiers")
    return held(
      "a missing input is replaced by ?? of the formula at once, and not after failureThreshold",
    );
  if (behavior === "currentReplicasIfLower")
    return held("a missing metric never shrinks a workload here: the count is held");
  if (asked < 1) return held("KEDA would go to 0 while its metrics fail; here the count is held");
  const afterSeconds =
    numberOf(failureThreshold, 3) * numberOf(pollingInterval, KEDA.pollingSeconds);
  const within = Math.min(most, Math.max(asked, numberOf(minReplicaCount, 0), 1));
  const stays = changed(
    "spec.fallback",
    "a missing metric never shrinks a workload here: a count above its replicas stays",
  );
  return {
    onMissing: { action: "fallback", replicas: within, afterSeconds },
    details: behavior === "static" ? [stays] : [],
  };
};

interface Pauses {
  /** Fields of the spec that the annotations stand for. */
  readonly fields: Json;
  readonly disabled: ReadonlySet<"scaleUp" | "scaleDown">;
  readonly neverIdle: boolean;
  readonly details: readonly Detail[];
}

const pausesOf = (raw: Json, spec: Json): Pauses => {
  const replicas = annotationOf(raw, "paused-replicas");
  const [paused, scaleIn, scaleOut] = ["paused", "paused-scale-in", "paused-scale-out"].map(
    (name) => isOn(raw, name),
  );
  const active = isOn(raw, "force-activation") && mayIdle(spec);
  const count = Number(replicas);
  return {
    fields: {
      ...(paused && { dryRun: true }),
      ...(replicas !== undefined && count >= 1 && { minReplicas: count, maxReplicas: count }),
    },
    disabled: new Set([
      ...(scaleIn ? (["scaleDown"] as const) : []),
      ...(scaleOut ? (["scaleUp"] as const) : []),
    ]),
    neverIdle: scaleIn === true || active || replicas !== undefined,
    details: applying([
      [
        paused === true,
        ofAnnotation(
          "paused",
          "it is dryRun: true of the manifest: it decides and reports, and writes nothing; end it there",
        ),
      ],
      [replicas !== undefined, countDetail(count)],
      [
        scaleIn === true,
        ofAnnotation(
          "paused-scale-in",
          "it is selectPolicy: Disabled of spec.scaleDown, without idle: end it there",
        ),
      ],
      [
        scaleOut === true,
        ofAnnotation(
          "paused-scale-out",
          "it is selectPolicy: Disabled of spec.scaleUp: end it there",
        ),
      ],
      [
        active,
        ofAnnotation(
          "force-activation",
          "the manifest has no idle: add it where the workload may be idle again",
        ),
      ],
    ]),
  };
};

const countDetail = (count: number): Detail =>
  Number.isInteger(count) && count >= 1
    ? ofAnnotation(
        "paused-replicas",
        `minReplicas and maxReplicas are ${count}: write the bounds of the ScaledObject where the pause ends`,
      )
    : {
        ...ofAnnotation("paused-replicas", "a count of 0 or none is no bound; end the pause first"),
        severity: "lost",
      };

const documentOf = (
  raw: Json,
  {
    spec,
    most,
    metrics,
    pauses,
  }: {
    readonly spec: Json;
    readonly most: number;
    readonly metrics: readonly unknown[];
    readonly pauses: Pauses;
  },
): Json => {
  const { apiVersion = "apps/v1", kind = "Deployment", name } = asObject(spec["scaleTargetRef"]);
  const { idleReplicaCount = 0, cooldownPeriod } = spec;
  const idle = {
    replicas: idleReplicaCount,
    afterSeconds: numberOf(cooldownPeriod, KEDA.cooldownSeconds),
  };
  return {
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: cleanMetadata(raw, ANNOTATION),
    spec: {
      scaleTargetRef: { apiVersion, kind, name },
      minReplicas: Math.max(1, numberOf(spec["minReplicaCount"], 0)),
      maxReplicas: most,
      metrics,
      ...directions(spec, pauses),
      ...(mayIdle(spec) && !pauses.neverIdle && { idle }),
      ...pauses.fields,
    },
  };
};

/** The behavior has the fields of autoscaling/v2, whose defaults a PodAutoscaler has, too. */
const directions = (spec: Json, { disabled }: Pauses): Json => {
  const behavior = behaviorOf(spec);
  return Object.fromEntries(
    (["scaleUp", "scaleDown"] as const).flatMap((way) => {
      const { tolerance: _ofMetrics, ...rules } = asObject(behavior[way]);
      const all = { ...rules, ...(disabled.has(way) && { selectPolicy: "Disabled" }) };
      return Object.keys(all).length === 0 ? [] : [[way, all]];
    }),
  );
};

const fieldDetails = (spec: Json): readonly Detail[] => {
  const { pollingInterval, initialCooldownPeriod = 0 } = spec;
  const { restoreToOriginalReplicaCount, horizontalPodAutoscalerConfig } = asObject(
    spec["advanced"],
  );
  const { envSourceContainerName } = asObject(spec["scaleTargetRef"]);
  const polling = `sources are asked in every sync of the cluster, and not every ${String(pollingInterval)} s; everySeconds of a metric asks less often`;
  const restore = "set it to false before the ScaledObject is deleted: KEDA sets the count back";
  return applying([
    [pollingInterval !== undefined, changed("spec.pollingInterval", polling)],
    [
      initialCooldownPeriod !== 0,
      changed("spec.initialCooldownPeriod", "idle.afterSeconds counts from the first sync on"),
    ],
    [
      Boolean(restoreToOriginalReplicaCount),
      changed("spec.advanced.restoreToOriginalReplicaCount", restore),
    ],
    [
      asObject(horizontalPodAutoscalerConfig)["name"] !== undefined,
      withoutEffect(
        "spec.advanced.horizontalPodAutoscalerConfig.name",
        "it is the name of KEDA's HPA",
      ),
    ],
    [
      envSourceContainerName !== undefined,
      withoutEffect(
        "spec.scaleTargetRef.envSourceContainerName",
        "no environment of a pod is read",
      ),
    ],
  ]);
};
