import type { ControllerEvent, GaugeWrite, Limit, MetricOutcome, StepOutcome } from "../../../model/decision.ts";
import type { Condition } from "../../../model/windows.ts";
import type { ConditionReport } from "../../shared/conditions.ts";

/**
 * What one decision says beside its count: conditions, events, series, and the pipeline as it went. Each decision has its own and hands out copies, so nothing
 * of it is seen from outside.
 */
export interface Recorder {
  readonly nowMs: number;
  condition(report: ConditionReport): void;
  conditions(): readonly Condition[];
  event(type: ControllerEvent["type"], reason: string, message: string): void;
  events(): readonly ControllerEvent[];
  gauge(name: string, value: number, labels?: Readonly<Record<string, string>>): void;
  /** Takes series away that were written before, in this sync or earlier. */
  dropGauge(name: string, labels?: Readonly<Record<string, string>>): void;
  gauges(): readonly GaugeWrite[];
  step(step: string, before: number, after: number, limit?: Limit): void;
  steps(): readonly StepOutcome[];
  metric(outcome: MetricOutcome): void;
  metrics(): readonly MetricOutcome[];
}

export const recorder = (before: readonly Condition[], nowMs: number): Recorder => {
  let conditions = before;
  const events: ControllerEvent[] = [];
  /** By series, in the order of the last writes. */
  const gauges = new Map<string, GaugeWrite>();
  const steps: StepOutcome[] = [];
  const metrics: MetricOutcome[] = [];
  const gauge = (name: string, value: number | null, labels: Readonly<Record<string, string>>): void => {
    const series = seriesOf(name, labels);
    gauges.delete(series);
    gauges.set(series, { name, labels, value });
  };
  return {
    nowMs,
    condition: (report) => {
      conditions = newestFirst(conditions, report, nowMs);
      const series = CONDITION_SERIES[report.type];
      if (series !== undefined) gauge("conditions", report.status === "True" ? 1 : 0, { condition: series });
    },
    conditions: () => conditions,
    event: (type, reason, message) => events.push({ type, reason, message }),
    events: () => [...events],
    gauge: (name, value, labels = NO_LABELS) => gauge(name, value, labels),
    dropGauge: (name, labels = NO_LABELS) => gauge(name, null, labels),
    gauges: () => [...gauges.values()],
    step: (step, from, after, limit) => steps.push({ step, before: from, after, ...(limit ? { limit } : {}) }),
    steps: () => [...steps],
    metric: (outcome) => metrics.push(outcome),
    metrics: () => [...metrics],
  };
};

/** Conditions that have a series of their own (watermark.md 2.3). */
const CONDITION_SERIES: Readonly<Record<string, string>> = {
  AbleToScale: "able_to_scale",
  ScalingLimited: "scaling_limited",
  ScalingBlocked: "scaling_blocked",
};

const seriesOf = (name: string, labels: Readonly<Record<string, string>>): string => (labels === NO_LABELS ? name : name + JSON.stringify(labels));
const NO_LABELS: Readonly<Record<string, string>> = {};

/**
 * Newest transition first (watermark.md 2.3). The original's clock moves on inside a sync, so of the transitions of one sync the last is the newest; a condition that kept its
 * status keeps its place among its equals.
 */
export const newestFirst = (conditions: readonly Condition[], report: ConditionReport, nowMs: number): readonly Condition[] => {
  const before = conditions.find(({ type }) => type === report.type);
  const kept = before?.status === report.status;
  const condition: Condition = { ...report, transitionMs: kept ? before.transitionMs : nowMs };
  const all = kept
    ? conditions.map((known) => (known === before ? condition : known))
    : [condition, ...conditions.filter((known) => known !== before)];
  return all.toSorted((one, other) => other.transitionMs - one.transitionMs);
};
