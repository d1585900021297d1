import type { Because, MetricOutcome } from "../../../model/decision.ts";
import type { Pod } from "../../../model/observation.ts";
import type { Selector } from "../../../model/selector.ts";
import type { HpaSpec } from "../../../model/spec-hpa.ts";
import type { MetricStatus, RecommendationRun } from "../../../model/windows.ts";
import type { RulesInput } from "../../dialect.ts";
import type { Measurement } from "../../shared/metrics/measurement.ts";
import { startedWith, type StepState } from "../../shared/steps.ts";

export type HpaInput = RulesInput<HpaSpec>;

/** One sync on its way through the steps; each step returns the next state of it. */
export interface HpaSync extends StepState<HpaInput, Ending> {
  readonly recommendations: readonly RecommendationRun[] | null;
  /** Text of the target's selector that this sync found. */
  readonly selectorText: string | undefined;
  readonly selector: Selector;
  readonly pods: readonly Pod[];
  readonly measurements: readonly Measurement[];
  readonly currentMetrics: readonly MetricStatus[] | null;
  readonly metrics: readonly MetricOutcome[];
  /** spec.replicas and status.replicas of the scale. */
  readonly current: number;
  readonly statusReplicas: number;
  /** The count on its way from proposal to what is written. */
  readonly count: number;
  readonly trigger: string;
}

/** Why the remaining steps are left out. */
export type Ending =
  /** The scale could not be read: nothing but the conditions is reported. */
  | { readonly kind: "unreadable"; readonly because: Because }
  /**
   * No count could be computed: the workload keeps its count, whatever the metrics that did answer
   * say.
   */
  | { readonly kind: "failed"; readonly because: Because }
  /** The count is settled without metrics. */
  | { readonly kind: "settled"; readonly because: Because };

export type HpaStep = (sync: HpaSync) => HpaSync;

export const started = (input: HpaInput): HpaSync => ({
  ...startedWith(input),
  recommendations: input.windows.memory.recommendations,
  selectorText: input.windows.memory.selector,
  selector: [],
  pods: [],
  measurements: [],
  currentMetrics: null,
  metrics: [],
  current: 0,
  statusReplicas: 0,
  count: 0,
  trigger: "",
});
