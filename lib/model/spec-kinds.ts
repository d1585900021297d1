/** A kind of object in a cluster from which autoscalers can be read. */
export interface SpecKind {
  readonly kind: SpecKindName;
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export const SPEC_KIND_NAMES = ["PodAutoscaler", "WatermarkPodAutoscaler"] as const;
export type SpecKindName = (typeof SPEC_KIND_NAMES)[number];

/** The versions are fixed, because a manifest of another version may mean something else. */
export const SPEC_KINDS: readonly SpecKind[] = [
  { kind: "PodAutoscaler", apiVersion: "tidemark.dev/v1", group: "tidemark.dev", version: "v1", plural: "podautoscalers" },
  {
    kind: "WatermarkPodAutoscaler",
    apiVersion: "datadoghq.com/v1alpha1",
    group: "datadoghq.com",
    version: "v1alpha1",
    plural: "watermarkpodautoscalers",
  },
];
