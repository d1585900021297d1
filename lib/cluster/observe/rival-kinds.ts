import { asList, asObject, asText } from "../read/json.ts";
import type { JsonObject } from "../transport/transport.ts";
import type { WireKind } from "../wire/message.ts";
import { HPA_LIST } from "../wire/workloads.ts";

/** A kind of controller that scales what it points at. */
export interface RivalKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  /** Only the API server's own kinds have one. */
  readonly protobuf?: WireKind;
  /** A version that is there for certain; else discovery tells whether the group is installed at all. */
  readonly version?: string;
  readonly target: (spec: JsonObject) => { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** Does not scale, whatever it says. */
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
    // The hand of a ScaledObject, which is reported itself.
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
