import type { Because, ControllerEvent, Limit, MetricOutcome, StepOutcome } from "../../../model/decision.ts";
import type { Pod } from "../../../model/observation.ts";
import type { Selector } from "../../../model/selector.ts";
import type { HpaSpec } from "../../../model/spec-hpa.ts";
import type { Condition, MetricStatus, RecommendationRun } from "../../../model/windows.ts";
import type { RulesInput } from "../../dialect.ts";
import { type ConditionReport, setCondition } from "../../shared/conditions.ts";
import type { Measurement } from "../../shared/metrics/measurement.ts";

export type HpaInput = RulesInput<HpaSpec>;

/** One sync on its way through the steps; each step returns the next state of it. */
export interface HpaSync {
  readonly input: HpaInput;
  readonly conditions: readonly Condition[];
  readonly recommendations: readonly RecommendationRun[] | null;
  /** Text of the target's selector that this sync found. */
  readonly selectorText: string | undefined;
  readonly selector: Selector;
  readonly pods: readonly Pod[];
  readonly measurements: readonly Measurement[];
  readonly currentMetrics: readonly MetricStatus[] | null;
  readonly events: readonly ControllerEvent[];
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  /** spec.replicas and status.replicas of the scale. */
  readonly current: number;
  readonly statusReplicas: number;
  /** The count on its way from proposal to what is written. */
  readonly count: number;
  readonly trigger: string;
  readonly ending: Ending | undefined;
}

/** Why the remaining steps are left out. */
export type Ending =
  /** The scale could not be read: nothing but the conditions is reported. */
  | { readonly kind: "unreadable"; readonly because: Because }
  /** No count could be computed: the workload keeps its count, whatever the metrics that did answer say. */
  | { readonly kind: "failed"; readonly because: Because }
  /** The count is settled without metrics. */
  | { readonly kind: "settled"; readonly because: Because };

export type HpaStep = (sync: HpaSync) => HpaSync;

export const started = (input: HpaInput): HpaSync => ({
  input,
  conditions: input.windows.status.conditions,
  recommendations: input.windows.memory.recommendations,
  selectorText: input.windows.memory.selector,
  selector: [],
  pods: [],
  measurements: [],
  currentMetrics: null,
  events: [],
  metrics: [],
  steps: [],
  current: 0,
  statusReplicas: 0,
  count: 0,
  trigger: "",
  ending: undefined,
});

export const withCondition = (sync: HpaSync, report: ConditionReport): readonly Condition[] =>
  setCondition(sync.conditions, report, sync.input.nowMs);

export const warning = (reason: string, message: string): ControllerEvent => ({ type: "Warning", reason, message });

/** The step's line in the explanation, with the limit when one changed the count. */
export const stepped = (sync: HpaSync, step: string, after: number, limit?: Limit): readonly StepOutcome[] => [
  ...sync.steps,
  limit === undefined ? { step, before: sync.count, after } : { step, before: sync.count, after, limit },
];
