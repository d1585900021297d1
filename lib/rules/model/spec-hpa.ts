import type { LabelSelector } from "./selector.ts";
import type { CommonSpec, TargetRef } from "./spec-common.ts";
import type { LimitFactor } from "./spec-watermark.ts";

/** `autoscaling/v2` and every form that converts to it (hpa.md 1). */
export interface HpaSpec extends CommonSpec {
  /**
   * "original" selects the rules of the first design (proposals.md §1), with one Resource metric of
   * CPU utilization. "multi-threshold" has `thresholds` (proposals.md §5).
   */
  readonly dialect: "hpa" | "original" | "multi-threshold";
  readonly target: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly HpaMetric[];
  /** An absent behavior follows the legacy path of hpa.md 2.6.1; an empty one does not. */
  readonly behavior?: Behavior;
  /**
   * All fields of the multi-threshold form; absent in the other dialects, whose manifests have none
   * of them and no watermarks.
   */
  readonly thresholds?: Thresholds;
}

export interface Thresholds {
  /**
   * True when a value is divided by the current count before it is compared with its watermarks.
   */
  readonly average: boolean;
  /**
   * Half-width of every band, as a share. A direction of `behavior` that has its own tolerance uses
   * that.
   */
  readonly tolerance: number;
  readonly scaleUpLimit: LimitFactor;
  readonly scaleDownLimit: LimitFactor;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
}

/** Two watermarks in thousandths, used instead of a target. Between them nothing changes. */
export interface Marks {
  readonly highMilli: bigint;
  readonly lowMilli: bigint;
}

/** Both directions have all fields, except those that hpa.md 1.1 leaves absent. */
export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

export interface ScalingRules {
  /** Absent only for scaleDown: then the downscale stabilization of the cluster counts. */
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy: "Max" | "Min" | "Disabled";
  readonly policies: readonly ScalingPolicy[];
  /** The double of the quantity (hpa.md 3.1). Absent means the tolerance of the cluster. */
  readonly tolerance?: number;
  /** Absent means "Both" (hpa.md 3.8.4). */
  readonly countedChanges?: CountedChanges;
}

/**
 * The changes of the count that a policy counts inside its period. With "Both", changes of its own
 * direction use up the limit, and changes of the other direction give room back. With
 * "SameDirection", changes of the other direction do not count (proposals.md §3).
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

/**
 * Quantities are thousandths. The members that are set decide more than `type` does (hpa.md 2.5).
 */
export interface MetricTarget {
  readonly type: string;
  readonly valueMilli?: bigint;
  readonly averageValueMilli?: bigint;
  /** Percent of the request. */
  readonly averageUtilization?: number;
}

export type HpaMetric = HpaSource & { readonly target: MetricTarget; readonly marks?: Marks };

/**
 * The source of a metric. The selector of a Resource selects pods beside the pods of the target; it
 * is only valid with watermarks.
 */
export type HpaSource =
  | { readonly type: "Resource"; readonly name: string; readonly selector?: LabelSelector }
  | { readonly type: "ContainerResource"; readonly name: string; readonly container: string }
  | { readonly type: "Pods"; readonly metric: MetricIdentifier }
  | {
      readonly type: "Object";
      readonly describedObject: DescribedObject;
      readonly metric: MetricIdentifier;
    }
  | { readonly type: "External"; readonly metric: MetricIdentifier };

/**
 * False with watermarks only and no behavior: then forbidden windows replace stabilization, as in
 * the watermark dialect.
 */
export const isStabilized = ({
  behavior,
  metrics,
}: Pick<HpaSpec, "behavior" | "metrics">): boolean =>
  behavior !== undefined ||
  metrics.length === 0 ||
  metrics.some(({ marks }) => marks === undefined);
