import type { Because } from "../model/decision.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Behavior } from "../model/spec-hpa.ts";

/** What one set of rules says of itself to people, beside its windows. */
export interface Explanations<Spec extends AutoscalerSpec> {
  /** The metrics of a spec with their targets, in its order, as a sync shows them. */
  readonly targets: (spec: Spec) => readonly MetricTargetText[];
  /** The percentage of the CPU request that the spec aims at; `undefined` where it aims at none. */
  readonly cpuPercent: (spec: Spec) => number | undefined;
  /** What is measured in percent of the requests of its pods. */
  readonly requestShares: (spec: Spec) => readonly RequestShare[];
  /** What an autoscaling/v2 object calls `behavior`. */
  readonly behavior: (spec: Spec) => Behavior | undefined;
  /** True where the series of the watermark controller are published. */
  readonly publishesBands: boolean;

  /** How the proposals of several metrics become one count. */
  readonly combination: (spec: Spec) => "Max" | "Min" | "Mean";
  readonly combined: (spec: Spec, proposals: readonly number[]) => number;
  /** False for a metric that has no say in this count. */
  readonly takesPart: (spec: Spec, metric: MeasuredMetric, from: number) => boolean;
  /** True where only pods count that the target owns and that have not ended. */
  readonly ownPodsOnly: (spec: Spec) => boolean;
  /** What else matters to the count that a metric asks for. */
  readonly besides?: (spec: Spec, metric: MeasuredMetric) => string | undefined;

  /** What wakes a workload that is at rest at `from` replicas; `undefined` for one that is not. */
  readonly rest: (spec: Spec, from: number) => Rest | undefined;
  /** The one metric whose absence stopped a decision; `undefined` where there is none. */
  readonly stoppedBy: (spec: Spec, because: Because) => StoppingMetric | undefined;
}

/** A resource of one container, or of all of them. */
export interface RequestShare {
  readonly resource: string;
  readonly container?: string;
}

interface MetricTargetText {
  readonly type: string;
  readonly name: string;
  /** "62%", or two watermarks: "150m..400m". */
  readonly target: string;
}

export interface MeasuredMetric {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  readonly proposal: number;
}

export interface Rest {
  readonly wakesTo: number;
  readonly levels: readonly { readonly name: string; readonly aboveMilli: bigint }[];
}

export interface StoppingMetric {
  readonly name: string;
  readonly fallback?: { readonly afterSeconds: number; readonly replicas: number };
}

/**
 * What holds for most rules: the largest proposal wins, no workload rests, and no single metric
 * stops a decision.
 */
export const LARGEST_WINS: Omit<Explanations<AutoscalerSpec>, "targets"> = {
  cpuPercent: () => undefined,
  requestShares: () => [],
  behavior: () => undefined,
  publishesBands: false,
  combination: () => "Max",
  combined: (_spec, proposals) => Math.max(...proposals),
  takesPart: () => true,
  ownPodsOnly: () => false,
  rest: () => undefined,
  stoppedBy: () => undefined,
};
