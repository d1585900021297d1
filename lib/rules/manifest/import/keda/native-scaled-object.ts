import { asObject, type Json } from "../../../model/json.ts";
import { cleanMetadata, type Detail } from "../finding.ts";
import { kedaCron } from "../schedules/actions.ts";
import {
  applying,
  changed,
  lost,
  writtenNamespace,
  textOf,
  withoutEffect,
} from "../schedules/timed.ts";
import {
  DEFAULT_MAX,
  type ImportedScaledObject,
  NO_TRIGGER,
  triggerLabel,
} from "../scaled-object.ts";
import type { Trigger } from "./triggers.ts";
import {
  placeConflict,
  isAddressed,
  sourcePlaceOf,
  sourceNameOf,
  type SourcePlaces,
  triggersIn,
} from "./places.ts";
import {
  numberOf,
  DEFAULTS_GONE,
  losesDefaults,
  isAlwaysActive,
  mayIdle,
  triggerMetric,
  restMetric,
  formulaMetric,
  KEDA,
  behaviorIn,
} from "./metrics.ts";
import { NONE_REGISTERED, type Registered, registeredDetails } from "./registered.ts";
import { pausesOf, type Pauses } from "./pauses.ts";
import { unreadFields } from "./unread-fields.ts";

/** Which registered source stands for a trigger. */
export interface TriggerSources {
  /** By the name of the trigger, of its authentication, or its type, in this order. */
  readonly named: Readonly<Record<string, string>>;
  /** True where the place of any other trigger names its source (`tidemark source discover`). */
  readonly discovered: boolean;
}

/** KEDA 1 names only Deployments, in a field of its own. */
const isOfKeda1 = (raw: Json): boolean => /^keda\.k8s\.io\//.test(String(raw["apiVersion"]));

const KEDA_1 = changed(
  "apiVersion",
  "it is an object of KEDA 1, whose fields are read as KEDA 2.21 reads them: look at fields that named an environment variable, as host of rabbitmq and address of redis",
);

const ANNOTATION = /^(?:autoscaling|scaledobject|validations)\.keda\.sh\//;

export interface NativeContext {
  readonly sources: TriggerSources;
  readonly places: SourcePlaces;
  readonly registered?: Registered;
  /** What of the object has the wrong type. */
  readonly unreadable?: readonly Detail[];
}

/** KEDA takes texts only as metadata of a trigger; another value would be read as none. */
export const notTexts = (raw: Json): readonly Detail[] =>
  triggersIn(raw).flatMap(({ type, metadata }, index) =>
    Object.entries(asObject(metadata))
      .filter(([, value]) => typeof value !== "string" && value !== undefined)
      .map(([name]) =>
        lost(
          `${triggerLabel(index, String(type))}: ${name}`,
          "it must be a text: write it in quotes",
        ),
      ),
  );

/**
 * A ScaledObject as a PodAutoscaler that needs KEDA no more: each trigger is a metric of a
 * registered source, and scaling to zero is `idle`. On doubt, no document: an autoscaler without
 * one of its metrics would shrink to what the others need.
 */
export const nativeScaledObject = (
  raw: Json,
  { sources, places, registered = NONE_REGISTERED, unreadable = [] }: NativeContext,
): ImportedScaledObject => {
  const written = asObject(raw["spec"]);
  const most = numberOf(written["maxReplicaCount"], DEFAULT_MAX);
  const triggers = triggersOf(raw, sources);
  const why = mayIdle(written) ? whyAwake(written, triggers) : undefined;
  const awake = why !== undefined;
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
      ? kedaCron(trigger.raw, {
          index,
          most,
          least: Math.max(1, numberOf(spec["minReplicaCount"], 0)),
        })
      : undefined,
  );
  const pauses = pausesOf(raw, spec);
  const missing = missingOf(spec, most, pauses);
  const read = triggers
    .filter((_, at) => cron[at] === undefined)
    .map((trigger) => triggerMetric(trigger, { spec, formula, onMissing: missing.onMissing }));
  const details = [
    ...(triggers.length === 0 ? [NO_TRIGGER] : []),
    ...(awake && triggers.length > 0
      ? [changed("spec.minReplicaCount", `the least count is 1, as in KEDA: ${why}`)]
      : []),
    ...cron.flatMap((entry) => entry?.detail ?? []),
    ...unreadable,
    ...read.flatMap(({ details: of }) => of),
    ...triggers.flatMap(unreadFields),
    ...triggers.flatMap((trigger) => placeConflict(trigger, places) ?? []),
    ...triggers.flatMap((of) => registeredDetails(of, writtenNamespace(raw), registered)),
    ...missing.details,
    ...formulaDetails(formula, modifiers, spec),
    ...pauses.details,
    ...applying([[isOfKeda1(raw), KEDA_1]]),
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

const formulaDetails = (
  formula: string | undefined,
  modifiers: Json,
  spec: Json,
): readonly Detail[] =>
  formula === undefined
    ? []
    : applying([
        [
          losesDefaults(formula, spec),
          changed("spec.advanced.scalingModifiers.formula", DEFAULTS_GONE),
        ],
        [
          modifiers["target"] === undefined,
          lost(
            "spec.advanced.scalingModifiers.target",
            "it is not written, and KEDA needs it beside a formula, too",
          ),
        ],
      ]);

/** Why KEDA keeps the workload at 1 at least; undefined where it may go to its idle count. */
const whyAwake = (spec: Json, triggers: readonly Trigger[]): string | undefined => {
  // Of cpu and memory KEDA never learns that a workload is out of use.
  if (triggers.every(({ type }) => OF_THE_CLUSTER.has(type)))
    return "cpu and memory do not start a workload without pods";
  const modifiers = asObject(asObject(spec["advanced"])["scalingModifiers"]);
  const always =
    textOf(modifiers["formula"]) === undefined
      ? triggers.some(isAlwaysActive)
      : Number(textOf(modifiers["activationTarget"])) < 0;
  return always ? "an activation threshold below 0 is above no value" : undefined;
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

/** The triggers of a ScaledObject, with the source that is named for each. */
export const triggersOf = (raw: Json, sources: TriggerSources): readonly Trigger[] =>
  triggersIn(raw).map((trigger, index) =>
    triggerOf(trigger, { index, sources, namespace: writtenNamespace(raw) }),
  );

interface TriggerContext {
  readonly index: number;
  readonly sources: TriggerSources;
  readonly namespace: string;
}

const triggerOf = (raw: Json, { index, sources, namespace }: TriggerContext): Trigger => {
  const { named, discovered } = sources;
  const type = String(raw["type"]);
  const name = textOf(raw["name"]) ?? `${type}-${index}`;
  const authentication = textOf(asObject(raw["authenticationRef"])["name"]) ?? "";
  const metadata = asObject(raw["metadata"]);
  const place = sourcePlaceOf({ type, metadata, raw }, namespace);
  return {
    type,
    name,
    of: triggerLabel(index, type),
    metadata,
    raw,
    place,
    source:
      named[name] ??
      named[authentication] ??
      named[type] ??
      (discovered && place && isAddressed(place) ? sourceNameOf(place) : undefined),
  };
};

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
  const missing = (action: string, why: readonly string[]): Missing => ({
    onMissing: { action },
    details: why.map((words) => changed("spec.fallback", words)),
  });
  const held = (...why: readonly string[]) => missing("hold", why);
  // A metric that asks for the count that there is leaves the way up to the others.
  const othersGrow = (...why: readonly string[]) => missing("scaleUpOnly", why);
  if (pausedAt !== undefined)
    return held("the bounds are equal while it is paused: write the fallback where the pause ends");
  if (behavior === "currentReplicas")
    return othersGrow(
      "the count is held from the first sync without the metric; when it is back, the count may move earlier than in KEDA, whose HPA takes the current count as wanted in that time",
    );
  if (behavior === "scalingModifiers")
    return held(
      "a missing input is replaced by ?? of the formula at once, and not after failureThreshold",
    );
  if (behavior === "currentReplicasIfLower")
    return othersGrow("a missing metric never shrinks a workload here: the count is held");
  if (asked < 1)
    return othersGrow("KEDA would go to 0 while its metrics fail; here the count is held");
  const afterSeconds =
    numberOf(failureThreshold, 3) * numberOf(pollingInterval, KEDA.pollingSeconds);
  const within = Math.min(most, Math.max(asked, numberOf(minReplicaCount, 0), 1));
  const stays = changed(
    "spec.fallback",
    "a missing metric never shrinks a workload here: a count above its replicas stays",
  );
  const time = changed(
    "spec.fallback",
    `it begins ${afterSeconds} s after the first sync without the metric, and the count is held until then; KEDA counts failed reads of two loops, and grows by its other triggers meanwhile`,
  );
  return {
    onMissing: { action: "fallback", replicas: within, afterSeconds },
    details: behavior === "static" ? [stays, time] : [time],
  };
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
  const target = asObject(spec["scaleTargetRef"]);
  const { apiVersion = "apps/v1", kind = "Deployment" } = target;
  const name = target[isOfKeda1(raw) ? "deploymentName" : "name"];
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
  const behavior = behaviorIn(spec);
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
  const pace =
    "without it the HPA of KEDA goes to twice the count at most, and to 4 at least, in a sync; here the count grows by 100 % or by 4 pods in 15 s, whichever is more: 1, 5, 10, 20 in place of 1, 4, 8, 16. That HPA also grows on to the highest count that was wanted in the last 300 s, and shrinks up to a sync later";
  const rest =
    "idle.afterSeconds counts from the first sync on, and anew after a metric was missing; KEDA stops a workload at once that was not in use since the ScaledObject was made, and its two loops may wake or rest it a sync earlier or later";
  const polling = `sources are asked in every sync of the cluster, and not every ${String(pollingInterval)} s; everySeconds of a metric asks less often`;
  const restore = "set it to false before the ScaledObject is deleted: KEDA sets the count back";
  return applying([
    [
      Object.keys(behaviorIn(spec)).length === 0,
      changed("spec.advanced.horizontalPodAutoscalerConfig.behavior", pace),
    ],
    [pollingInterval !== undefined, changed("spec.pollingInterval", polling)],
    [mayIdle(spec), changed("spec.cooldownPeriod", rest)],
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
