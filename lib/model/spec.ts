import type { LabelSelector } from "./selector.ts";
import type { NativeSpec } from "./spec-native.ts";
import type { WatermarkSpec } from "./spec-watermark.ts";

/**
 * What an autoscaler is asked to do, after its manifest was validated, defaulted and converted (lib/manifest). The dialect names the rules that decide it.
 */
export type AutoscalerSpec = HpaSpec | WatermarkSpec | NativeSpec;

/** What only a `tidemark.dev/v1` manifest says of an autoscaler, whatever rules decide it. */
export interface Governed {
  /** Who answers for it; for people. */
  readonly owner?: string;
  /** Everything is decided and told, nothing is written. */
  readonly dryRun?: boolean;
  /** Held before this instant, and decided all the same. */
  readonly pausedUntilMs?: number;
}

/** The workload whose scale subresource is written. */
export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

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
}

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

export type HpaMetric =
  | { readonly type: "Resource"; readonly name: string; readonly target: MetricTarget }
  | { readonly type: "ContainerResource"; readonly name: string; readonly container: string; readonly target: MetricTarget }
  | { readonly type: "Pods"; readonly metric: MetricIdentifier; readonly target: MetricTarget }
  | { readonly type: "Object"; readonly describedObject: DescribedObject; readonly metric: MetricIdentifier; readonly target: MetricTarget }
  | { readonly type: "External"; readonly metric: MetricIdentifier; readonly target: MetricTarget };
