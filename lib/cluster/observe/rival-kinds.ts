import { asList, asObject, asText } from "../read/json.ts";
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

export const RIVAL_KINDS: readonly RivalKind[] = [
  {
    kind: "HorizontalPodAutoscaler",
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    protobuf: HPA_LIST,
    target: (spec) => scaleTargetRef(spec),
    // A ScaledObject owns this HPA, and is reported itself.
    idle: (raw) => asList(asObject(raw["metadata"])["ownerReferences"]).some((owner) => asObject(owner)["kind"] === "ScaledObject"),
  },
  {
    kind: "ScaledObject",
    group: "keda.sh",
    plural: "scaledobjects",
    target: (spec) => scaleTargetRef(spec, { apiVersion: "apps/v1", kind: "Deployment" }),
  },
  {
    kind: "WatermarkPodAutoscaler",
    group: "datadoghq.com",
    plural: "watermarkpodautoscalers",
    target: (spec) => scaleTargetRef(spec),
    idle: (raw) => asObject(raw["spec"])["dryRun"] === true,
  },
];
