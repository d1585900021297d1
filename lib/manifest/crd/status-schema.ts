import type { Json } from "../json.ts";

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

/** What Tidemark writes back to an autoscaler that was read from the cluster (lib/policy/object-status.ts). */
export const STATUS_SCHEMA: Json = {
  type: "object",
  description: "What Tidemark last decided. Tidemark writes it; a manifest need not have it.",
  properties: {
    observedGeneration: count("The generation of the object that was decided on."),
    currentReplicas: count("The count of the workload."),
    desiredReplicas: count("The count that was decided."),
    lastScaleTime: time("When the workload was scaled last."),
    targets: text("The value of each metric and its target, for kubectl get."),
    metrics: { type: "array", description: "The metrics of the last decision.", items: METRIC },
    conditions: {
      type: "array",
      description: "Why the count is as it is.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: CONDITION,
    },
  },
};
