import type { LabelSelector } from "./selector.ts";
import type { CommonSpec, TargetRef } from "./spec-common.ts";

/**
 * `datadoghq.com/v1alpha1 WatermarkPodAutoscaler`, defaulted (watermark.md 1). Quantities are
 * thousandths, rounded away from zero.
 */
export interface WatermarkSpec extends CommonSpec {
  readonly dialect: "watermark";
  /**
   * The number that a value is divided by and that a new count is calculated from: the ready pods,
   * as in the controller, or the current count, as in the multi-threshold proposal (proposals.md
   * §5). The proposal reads no pods, widens the watermarks without rounding them to thousandths,
   * and does not write an unchanged count.
   */
  readonly counts: "ready" | "current";
  readonly target: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly WatermarkMetric[];
  readonly recommender?: Recommender;
  /**
   * True for `average`, which divides the value by the ready pods. Any other text is `absolute`.
   */
  readonly average: boolean;
  /** Width added to each watermark, in thousandths of it. */
  readonly toleranceMilli: bigint;
  readonly scaleUpLimit: LimitFactor;
  readonly scaleDownLimit: LimitFactor;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
  readonly upscaleDelayAboveWatermarkSeconds: number;
  readonly downscaleDelayBelowWatermarkSeconds: number;
  readonly replicaScalingAbsoluteModulo: number;
  readonly converge: "off" | "highwatermark" | "lowwatermark";
  readonly dryRun: boolean;
  readonly tolerateZero: boolean;
  /** Percent of the pods of the target that must be ready; 0 is off. */
  readonly minAvailableReplicaPercentage: number;
  readonly readinessDelaySeconds: number;
  /** True when pods are selected only by labels. */
  readonly skipOwnerCheck: boolean;
  readonly lifecycleControl: LifecycleControl;
  /** True when the condition ScalingActive reports NotScaling instead of an event. */
  readonly skipNotScalingEvents: boolean;
  /** Sent to the recommender. */
  readonly clusterName: string;
  /**
   * The message of the first rule of watermark.md 1.3 that the spec breaks. Such an autoscaler
   * never scales.
   */
  readonly invalid?: string;
}

export interface WatermarkMetric {
  readonly source: "External" | "Resource";
  readonly name: string;
  readonly selector: LabelSelector;
  readonly highMilli: bigint;
  readonly lowMilli: bigint;
}

export interface Recommender {
  readonly url: string;
  readonly targetType: string;
  readonly settings: Readonly<Record<string, string>>;
  /** A recommender needs both watermarks. Without them it is not asked, and the workload holds. */
  readonly highMilli?: bigint;
  readonly lowMilli?: bigint;
  readonly tls: RecommenderTls;
}

/** Paths of files, the server name to verify, and the protocol versions `TLS10` … `TLS13`. */
export interface RecommenderTls {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly serverName?: string;
  readonly minVersion?: string;
  readonly maxVersion?: string;
}

/**
 * Percent of the current count. `whole` decides whether the direction is off, `milli` the size of a
 * step (watermark.md 2.8).
 */
export interface LimitFactor {
  readonly milli: bigint;
  readonly whole: bigint;
}

/** The annotation that lets a monitor of the same name stop all scaling (watermark.md 1.4). */
export type LifecycleControl =
  | { readonly kind: "off" }
  | { readonly kind: "on" }
  | { readonly kind: "unreadable"; readonly text: string };
