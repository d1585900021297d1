import type { Json } from "../json.ts";
import { SPEC } from "../native/spec-fields.ts";
import { STATUS_SCHEMA } from "./status-schema.ts";
import { structuralSchema } from "./structural-schema.ts";

const GROUP = "tidemark.dev";
const PLURAL = "podautoscalers";

const column = (name: string, type: string, jsonPath: string, more: Json = {}): Json => ({ name, type, jsonPath, ...more });
const WIDE = { priority: 1 };

const COLUMNS: readonly Json[] = [
  column("Reference", "string", ".spec.scaleTargetRef.name", { description: "The workload that is scaled." }),
  column("Targets", "string", ".status.targets", { description: "The value of each metric and its target." }),
  column("MinPods", "integer", ".spec.minReplicas"),
  column("MaxPods", "integer", ".spec.maxReplicas"),
  column("Replicas", "integer", ".status.currentReplicas"),
  column("Desired", "integer", ".status.desiredReplicas", WIDE),
  column("Why", "string", '.status.conditions[?(@.type=="Ready")].reason', { description: "The reason of the last decision." }),
  column("Age", "date", ".metadata.creationTimestamp"),
  column("Rules", "string", ".spec.rules", WIDE),
  column("Last scale", "date", ".status.lastScaleTime", WIDE),
  column("Message", "string", '.status.conditions[?(@.type=="Ready")].message', WIDE),
];

/** The CustomResourceDefinition of a PodAutoscaler. `tidemark crd` prints it, and docs/pod-autoscaler.crd.yaml is the same text. No controller runs in the cluster. */
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
