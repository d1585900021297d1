import type { LabelSelector } from "./selector.ts";
import type { Governed, TargetRef } from "./spec-governed.ts";
import type { LimitFactor } from "./spec-watermark.ts";

/** `autoscaling/v2` and every form that converts to it (hpa.md 1). */
export interface HpaSpec extends Governed {
  readonly dialect: "hpa";
  /** "original": the rules of the first design (proposals.md §1), with one Resource metric of CPU utilisation. Absent: those of hpa.md. */
  readonly rules?: "original";
  readonly target: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly HpaMetric[];
  /** Absent is not the same as empty: absent follows the legacy path of hpa.md 2.6.1. */
  readonly behavior?: Behavior;
  /** Fields of the multi-threshold form (proposals.md §5), all of them; absent where the manifest has none, and no marks. */
  readonly thresholds?: Thresholds;
}

export interface Thresholds {
  /** A value is divided by the current count before it is compared with its marks. */
  readonly average: boolean;
  /** Half-width of every band, as a share. A direction of `behavior` with a tolerance of its own keeps that. */
  readonly tolerance: number;
  readonly scaleUpLimit: LimitFactor;
  readonly scaleDownLimit: LimitFactor;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
}

/** Two levels, in thousandths, between which nothing happens; in the place of a target. */
export interface Marks {
  readonly highMilli: bigint;
  readonly lowMilli: bigint;
}

/** Both directions are always complete here, but for what hpa.md 1.1 leaves open. */
export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

export interface ScalingRules {
  /** Absent only for scaleDown: the cluster's downscale stabilization then counts. */
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy: "Max" | "Min" | "Disabled";
  readonly policies: readonly ScalingPolicy[];
  /** Double made from the quantity as hpa.md 3.1 says; absent: the cluster's tolerance. */
  readonly tolerance?: number;
  /** Absent: "Both", as hpa.md 3.8.4 has it. */
  readonly countedChanges?: CountedChanges;
}

/**
 * Which changes of the count inside its period a policy looks at. "Both": its own direction uses the limit up, and what the other one did is given back first. "SameDirection":
 * the other direction changes nothing (proposals.md §3).
 */
export type CountedChanges = "Both" | "SameDirection";

export interface ScalingPolicy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly periodSeconds: number;
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

/** An object of the autoscaler's namespace that a metric describes. */
export interface DescribedObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

/** Quantities are thousandths; which members are set decides more than `type` does (hpa.md 2.5). */
export interface MetricTarget {
  readonly type: string;
  readonly valueMilli?: bigint;
  readonly averageValueMilli?: bigint;
  /** Percent of the request. */
  readonly averageUtilization?: number;
}

export type HpaMetric = HpaSource & { readonly target: MetricTarget; readonly marks?: Marks };

/** Where a metric comes from. The selector of a Resource finds other pods than the target's, and stands beside marks alone. */
export type HpaSource =
  | { readonly type: "Resource"; readonly name: string; readonly selector?: LabelSelector }
  | { readonly type: "ContainerResource"; readonly name: string; readonly container: string }
  | { readonly type: "Pods"; readonly metric: MetricIdentifier }
  | { readonly type: "Object"; readonly describedObject: DescribedObject; readonly metric: MetricIdentifier }
  | { readonly type: "External"; readonly metric: MetricIdentifier };

/** Marks alone, without behavior: forbidden windows take the place of stabilization, as in the watermark dialect. */
export const isStabilized = ({ thresholds, behavior, metrics }: HpaSpec): boolean =>
  thresholds === undefined || behavior !== undefined || metrics.length === 0 || metrics.some(({ marks }) => marks === undefined);
