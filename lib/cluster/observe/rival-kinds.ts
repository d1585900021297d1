import { asList, asObject, asText } from "../../model/read/json.ts";
import type { JsonObject } from "../transport/transport.ts";
import type { WireKind } from "../wire/message.ts";
import { HPA_LIST } from "../wire/workloads.ts";

/** A kind of controller that scales its target. */
export interface RivalKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  /** Only kinds of the API server itself have one. */
  readonly protobuf?: WireKind;
  /** A version that every cluster serves. Otherwise discovery decides whether the group is installed. */
  readonly version?: string;
  readonly target: (spec: JsonObject) => { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** True for an object that does not scale. */
  readonly idle?: (raw: JsonObject) => boolean;
}

const scaleTargetRef = (spec: JsonObject, otherwise = { apiVersion: "", kind: "" }): { apiVersion: string; kind: string; name: string } => {
  const ref = asObject(spec["scaleTargetRef"]);
  return { apiVersion: asText(ref["apiVersion"]) || otherwise.apiVersion, kind: asText(ref["kind"]) || otherwise.kind, name: asText(ref["name"]) };
};

const PAUSED = "autoscaling.keda.sh/paused";
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";

/** KEDA says by the condition that it has stopped. With a count to pause at it may still scale to it. Its HPA is listed as long as it exists, so that it is a rival until it is gone. */
const isPaused = (raw: JsonObject): boolean => {
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  if (asText(annotations[PAUSED]) !== "true" || annotations[PAUSED_REPLICAS] !== undefined) return false;
  const conditions = asList(asObject(raw["status"])["conditions"]).map(asObject);
  return conditions.some(({ type, status }) => type === "Paused" && status === "True");
};

export const RIVAL_KINDS: readonly RivalKind[] = [
  {
    kind: "HorizontalPodAutoscaler",
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    protobuf: HPA_LIST,
    target: (spec) => scaleTargetRef(spec),
  },
  {
    kind: "ScaledObject",
    group: "keda.sh",
    plural: "scaledobjects",
    target: (spec) => scaleTargetRef(spec, { apiVersion: "apps/v1", kind: "Deployment" }),
    idle: isPaused,
  },
  {
    kind: "WatermarkPodAutoscaler",
    group: "datadoghq.com",
    plural: "watermarkpodautoscalers",
    target: (spec) => scaleTargetRef(spec),
    idle: (raw) => asObject(raw["spec"])["dryRun"] === true,
  },
];
