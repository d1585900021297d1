import {
  asList,
  asObject,
  asText,
  asCount,
  asName,
  type Json,
  readTime,
} from "../../../rules/model/json.ts";
import type { WireKind } from "../wire/message.ts";
import { HPA_LIST } from "../wire/objects.ts";
import type { Because } from "../../../rules/model/decision.ts";
import { foreignReason, foreignText } from "../../../rules/model/foreign-text.ts";
import type { Rival } from "../../../rules/model/observation.ts";

/** A kind of controller that scales its target. */
export interface RivalKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  /** Only kinds of the API server itself have one. */
  readonly protobuf?: WireKind;
  /**
   * A version that every cluster serves. Otherwise discovery decides whether the group is
   * installed.
   */
  readonly version?: string;
  /**
   * Versions of the group that have the kind, the best first. A group has kinds of several
   * installations, so that the version that it prefers may be one of another kind.
   */
  readonly versions: readonly string[];
  readonly target: (spec: Json) => {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
  };
  /** True for an object that does not scale. */
  readonly idle?: (raw: Json) => boolean;
}

const refIn = (
  written: unknown,
  otherwise = { apiVersion: "", kind: "" },
): { apiVersion: string; kind: string; name: string } => {
  const ref = asObject(written);
  return {
    apiVersion: asText(ref["apiVersion"]) || otherwise.apiVersion,
    kind: asText(ref["kind"]) || otherwise.kind,
    name: asText(ref["name"]),
  };
};

const scaleTargetRef = (spec: Json, otherwise?: { apiVersion: string; kind: string }) =>
  refIn(spec["scaleTargetRef"], otherwise);

/** The mode of v1alpha2 and of v1alpha1 in which Datadog recommends counts and sets none. */
const isPreview = (raw: Json): boolean => {
  const { applyPolicy, policy } = asObject(raw["spec"]);
  return asObject(applyPolicy)["mode"] === "Preview" || asObject(policy)["applyMode"] === "None";
};

const PAUSED = "autoscaling.keda.sh/paused";
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";

/**
 * KEDA says by the condition that it has stopped. With a count to pause at it may still scale to
 * it. Its HPA is listed as long as it exists, so that it is a rival until it is gone.
 */
const isPaused = (raw: Json): boolean => {
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  if (asText(annotations[PAUSED]) !== "true" || annotations[PAUSED_REPLICAS] !== undefined)
    return false;
  const conditions = asList(asObject(raw["status"])["conditions"]).map(asObject);
  return conditions.some(({ type, status }) => type === "Paused" && status === "True");
};

export const RIVAL_KINDS: readonly RivalKind[] = [
  {
    kind: "HorizontalPodAutoscaler",
    group: "autoscaling",
    version: "v2",
    versions: ["v2"],
    plural: "horizontalpodautoscalers",
    protobuf: HPA_LIST,
    target: (spec) => scaleTargetRef(spec),
  },
  {
    kind: "ScaledObject",
    group: "keda.sh",
    versions: ["v1alpha1"],
    plural: "scaledobjects",
    target: (spec) => scaleTargetRef(spec, { apiVersion: "apps/v1", kind: "Deployment" }),
    idle: isPaused,
  },
  {
    kind: "WatermarkPodAutoscaler",
    group: "datadoghq.com",
    versions: ["v1alpha1"],
    plural: "watermarkpodautoscalers",
    target: (spec) => scaleTargetRef(spec),
    idle: (raw) => asObject(raw["spec"])["dryRun"] === true,
  },
  {
    kind: "DatadogPodAutoscaler",
    group: "datadoghq.com",
    versions: ["v1alpha2", "v1alpha1"],
    plural: "datadogpodautoscalers",
    target: (spec) => refIn(spec["targetRef"]),
    idle: isPreview,
  },
];

/**
 * Another autoscaler as its LIST shows it, from JSON or protobuf. The HPA that KEDA makes of a
 * ScaledObject counts as that ScaledObject.
 */
export const readRival = (raw: Json, kind: string): Rival => {
  const { name, uid, ownerReferences } = asObject(raw["metadata"]);
  const status = statusOf(asObject(raw["status"]));
  const owner = asList(ownerReferences)
    .map(asObject)
    .find((reference) => reference["kind"] === "ScaledObject");
  if (owner) return { kind: "ScaledObject", name: asName(owner["name"]), ...status };
  const ownUid = asName(uid);
  return { kind, name: asName(name), ...(ownUid !== "" && { uid: ownUid }), ...status };
};

type RivalStatus = Pick<Rival, "desiredReplicas" | "lastScaleMs" | "because">;

/**
 * A controller that has not decided yet has no condition, and a desired count of 0 that means
 * nothing.
 */
const statusOf = ({ desiredReplicas, lastScaleTime, conditions }: Json): RivalStatus => {
  const because = becauseOf(asList(conditions).map(asObject));
  const desired = asCount(desiredReplicas);
  const lastScaleMs = readTime(lastScaleTime);
  return {
    ...(because && desired !== undefined && { desiredReplicas: desired }),
    ...(lastScaleMs !== undefined && { lastScaleMs }),
    ...(because && { because }),
  };
};

/**
 * The conditions of an HPA and of a WatermarkPodAutoscaler, those first that say most about the
 * count.
 */
const CONDITION_ORDER: readonly ((type: string, status: string, reason: string) => boolean)[] = [
  (type, status) => type === "ScalingActive" && status === "False",
  (type, status) => type === "AbleToScale" && status === "False",
  (type, status) => type === "ScalingLimited" && status === "True",
  (type, _status, reason) => type === "AbleToScale" && reason.endsWith("Stabilized"),
  (type) => type === "ScalingActive",
  (type) => type === "AbleToScale",
];

const becauseOf = (conditions: readonly Json[]): Because | undefined => {
  for (const isNext of CONDITION_ORDER) {
    const condition = conditions.find(({ type, status, reason }) =>
      isNext(asText(type), asText(status), asText(reason)),
    );
    const reason = condition && foreignReason(asText(condition["reason"]));
    if (condition && reason !== undefined)
      return { reason, message: foreignText(asText(condition["message"])) };
  }
  return undefined;
};
