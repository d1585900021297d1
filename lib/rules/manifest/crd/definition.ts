import type { Json } from "../../model/json.ts";
import { SPEC } from "../native/spec-fields.ts";
import { structuralSchema } from "./structural-schema.ts";

const GROUP = "tidemark.dev";
const PLURAL = "podautoscalers";

const column = (name: string, type: string, jsonPath: string, more: Json = {}): Json => ({
  name,
  type,
  jsonPath,
  ...more,
});
const WIDE = { priority: 1 };

const COLUMNS: readonly Json[] = [
  column("Reference", "string", ".spec.scaleTargetRef.name", {
    description: "The workload that is scaled.",
  }),
  column("Targets", "string", ".status.targets", {
    description: "The value of each metric and its target.",
  }),
  column("MinPods", "integer", ".spec.minReplicas"),
  column("MaxPods", "integer", ".spec.maxReplicas"),
  column("Replicas", "integer", ".status.currentReplicas"),
  column("Desired", "integer", ".status.desiredReplicas", WIDE),
  column("Why", "string", '.status.conditions[?(@.type=="Ready")].reason', {
    description: "The reason of the last decision.",
  }),
  column("Age", "date", ".metadata.creationTimestamp"),
  column("Rules", "string", ".spec.rules", WIDE),
  column("Last scale", "date", ".status.lastScaleTime", WIDE),
  column("Measured", "date", ".status.metricsTime", WIDE),
  column("Message", "string", '.status.conditions[?(@.type=="Ready")].message', WIDE),
];

/**
 * The CustomResourceDefinition of a PodAutoscaler. `tidemark crd` prints it, and
 * docs/pod-autoscaler.crd.yaml is the same text. No controller runs in the cluster.
 */
export const podAutoscalerDefinition = (): Json => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${PLURAL}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: {
      kind: "PodAutoscaler",
      listKind: "PodAutoscalerList",
      plural: PLURAL,
      singular: "podautoscaler",
      shortNames: ["pa"],
      categories: ["all", "tidemark"],
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "Scales one workload by the rules of Tidemark.",
            required: ["spec"],
            properties: {
              apiVersion: { type: "string" },
              kind: { type: "string" },
              metadata: { type: "object" },
              spec: structuralSchema("spec", SPEC.about),
              status: STATUS_SCHEMA,
            },
          },
        },
        subresources: { status: {} },
        additionalPrinterColumns: COLUMNS,
      },
    ],
  },
});

const text = (description: string): Json => ({ type: "string", description });
const count = (description: string): Json => ({ type: "integer", description });
const time = (description: string): Json => ({ type: "string", format: "date-time", description });

const CONDITION: Json = {
  type: "object",
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
  properties: {
    type: text("What the condition is about."),
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    observedGeneration: count("The generation of the object that was decided on."),
    lastTransitionTime: time("When the status changed last."),
    reason: text("One word for programs."),
    message: text("One sentence for people."),
  },
};

const METRIC: Json = {
  type: "object",
  required: ["name"],
  properties: {
    name: text("The metric."),
    value: text("The value that was compared."),
    target: text("What it was compared with."),
    proposal: count("The count that the metric asks for."),
    reason: text("Why it could not be measured, in one word."),
    message: text("Why it could not be measured."),
  },
};

/**
 * What Tidemark writes back to an autoscaler that was read from the cluster
 * (lib/stack/report/objects/object-status.ts).
 */
const STATUS_SCHEMA: Json = {
  type: "object",
  description: "What Tidemark last decided. Tidemark writes it; a manifest need not have it.",
  properties: {
    observedGeneration: count("The generation of the object that was decided on."),
    currentReplicas: count("The count of the workload."),
    desiredReplicas: count("The count that was decided."),
    lastScaleTime: time("When the workload was scaled last."),
    targets: text("The value of each metric and its target, for kubectl get."),
    metrics: { type: "array", description: "The metrics of the last decision.", items: METRIC },
    metricsTime: time(
      "When the metrics were measured. Values that stay the same are written again after five minutes, with a newer time.",
    ),
    conditions: {
      type: "array",
      description: "Why the count is as it is.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: CONDITION,
    },
  },
};
