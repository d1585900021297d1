import type { CommonSpec, TargetRef } from "./spec-common.ts";
import type { CountedChanges } from "./spec-hpa.ts";

/** Most pods of `rules: native`; the other forms have bounds of their own. */
export const MOST_REPLICAS = 1_000_000;

/**
 * `tidemark.dev/v1 PodAutoscaler` with `rules: native`, defaulted (docs/pod-autoscaler.md). With
 * `rules: hpa` or `watermark` it becomes the spec of that dialect. The files of
 * lib/rules/policy/native/steps add the settings of their steps, here and to `NativeRules`, so that
 * a new step changes nothing here.
 */
export interface NativeSpec extends CommonSpec {
  readonly dialect: "native";
  readonly target: TargetRef;
  /** At least 1. Only `idle` allows fewer. */
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly NativeMetric[];
  readonly scaleUp: NativeRules;
  readonly scaleDown: NativeRules;
  readonly flapBudget?: FlapBudget;
}

export interface NativeMetric {
  /**
   * Unique among the metrics of a spec. Messages use it, and the condition that says since when the
   * metric is missing.
   */
  readonly name: string;
  readonly source: NativeSource;
  /**
   * Percent of the request or limit (resources only), Average amount for each pod, or Total value.
   */
  readonly measure: "Percent" | "Average" | "Total";
  /** The metric is a part of formulas only, and asks for no count of its own. */
  readonly input?: true;
  readonly band: Band;
  /** True when the metric may raise the count, but never lower it. */
  readonly scaleUpOnly: boolean;
  readonly onMissing: OnMissing;
  /**
   * The workload is in use while the total value is above this, in thousandths. Only `idle` uses
   * it.
   */
  readonly activationMilli?: bigint;
  /** A registered source is asked once in this time; absent means in each sync. */
  readonly everyMs?: number;
  /** A value whose sample is older is missing; absent where any age will do. */
  readonly maxAgeMs?: number;
}

/**
 * The members of each type of source. Each file of lib/rules/sources adds its own, so that a new
 * source changes nothing here.
 */
export interface NativeSources extends Readonly<Record<never, never>> {}

export type NativeSourceOf<Type extends keyof NativeSources> = {
  readonly type: Type;
} & NativeSources[Type];
export type NativeSource = {
  [Type in keyof NativeSources]: NativeSourceOf<Type>;
}[keyof NativeSources];

/**
 * Levels are thousandths; thousandths of a percent where the metric is measured in percent. Without
 * a tolerance the cluster's holds.
 */
export type Band =
  | {
      readonly kind: "target";
      readonly milli: bigint;
      readonly toleranceUp?: number;
      readonly toleranceDown?: number;
    }
  | { readonly kind: "watermarks"; readonly lowMilli: bigint; readonly highMilli: bigint };

/** None of these actions ever shrinks a workload. */
export type OnMissing =
  | { readonly action: "hold" }
  | { readonly action: "scaleUpOnly" }
  | { readonly action: "fallback"; readonly replicas: number; readonly afterSeconds: number };

export interface NativeRules {
  readonly selectPolicy: "Max" | "Min" | "Disabled";
  readonly policies: readonly NativePolicy[];
  readonly countedChanges: CountedChanges;
}

/** A Factor multiplies or divides by so many thousandths. */
export interface NativePolicy {
  readonly type: "Pods" | "Percent" | "Factor";
  readonly valueMilli: number;
  readonly periodSeconds: number;
}

export interface FlapBudget {
  readonly reversals: number;
  readonly periodSeconds: number;
}

/**
 * The longest period, in seconds, in which the policies and the flap budget of a spec count scales.
 */
export const longestPeriodSeconds = ({ scaleUp, scaleDown, flapBudget }: NativeSpec): number =>
  Math.max(
    0,
    flapBudget?.periodSeconds ?? 0,
    ...[...scaleUp.policies, ...scaleDown.policies].map(({ periodSeconds }) => periodSeconds),
  );
