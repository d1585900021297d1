import type { LabelSelector } from "./selector.ts";
import type { Governed, TargetRef } from "./spec-governed.ts";

/** `datadoghq.com/v1alpha1 WatermarkPodAutoscaler`, defaulted (watermark.md 1). Quantities are thousandths, rounded away from zero. */
export interface WatermarkSpec extends Governed {
  readonly dialect: "watermark";
  /**
   * What a value is divided by and a count grows from: the ready pods, as today's controller has it, or the current count, as the multi-threshold document has it
   * (proposals.md §5). The document looks at no pod, widens the marks without cutting them to thousandths, and does not write a count that stays.
   */
  readonly counts: "ready" | "current";
  readonly target: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly WatermarkMetric[];
  readonly recommender?: Recommender;
  /** `average` divides the value by the ready pods; everything else is `absolute`. */
  readonly average: boolean;
  /** Width added to each mark, in thousandths of it. */
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
  /** Percent of the target's pods that must be ready; 0 is off. */
  readonly minAvailableReplicaPercentage: number;
  readonly readinessDelaySeconds: number;
  /** Pods are taken by selector alone. */
  readonly skipOwnerCheck: boolean;
  readonly lifecycleControl: LifecycleControl;
  /** NotScaling is reported by the condition ScalingActive in place of an event. */
  readonly skipNotScalingEvents: boolean;
  /** Sent to the recommender. */
  readonly clusterName: string;
  /** The first rule of watermark.md 1.3 that the spec breaks, in its words; such an object is never acted upon. */
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
  /** A recommender needs both marks; without them it is not asked, and the workload holds. */
  readonly highMilli?: bigint;
  readonly lowMilli?: bigint;
  readonly tls: RecommenderTls;
}

/** Paths of files, a name to verify, and the protocol versions `TLS10` … `TLS13`. */
export interface RecommenderTls {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly serverName?: string;
  readonly minVersion?: string;
  readonly maxVersion?: string;
}

/** Percent of the current count. `whole` decides whether the direction is off, `milli` how far a step goes (watermark.md 2.8). */
export interface LimitFactor {
  readonly milli: bigint;
  readonly whole: bigint;
}

/** The annotation that lets a monitor of the same name stop all scaling (watermark.md 1.4). */
export type LifecycleControl = { readonly kind: "off" } | { readonly kind: "on" } | { readonly kind: "unreadable"; readonly text: string };
