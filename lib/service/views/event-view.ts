import type { Limit, StepOutcome } from "../../model/decision.ts";
import type { EventRecord } from "../../model/event-record.ts";
import type { Evaluation } from "../../model/records.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import { withReadableSelectors } from "../../policy/shared/metrics/readable-name.ts";
import type { MetricReading } from "../../report/metric-reading.ts";
import { rfc3339 } from "./rfc3339.ts";

/** A scale event as people and programs get it. docs/figures/openapi-answers.ts does not compile without each of its fields. */
export interface EventView {
  readonly id: string;
  readonly at: string;
  readonly settledAt: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly partition: string;
  readonly uid: string;
  readonly target: TargetRef;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  /** `outside` is a change of the count that Tidemark did not make. */
  readonly outcome: "applied" | "refused" | "unknown" | "outside";
  readonly detail?: string;
  readonly specGeneration: number;
  readonly metrics: readonly MetricReading[];
  readonly steps: readonly StepView[];
}

export interface StepView {
  readonly step: string;
  readonly before: number;
  readonly after: number;
  readonly limit?: Omit<Limit, "untilMs"> & { readonly until?: string };
}

export const eventView = (event: EventRecord): EventView => ({
  id: event.id,
  at: rfc3339(event.atMs),
  settledAt: rfc3339(event.settledMs),
  cluster: event.cluster,
  namespace: event.namespace,
  name: event.name,
  target: event.target,
  from: event.from,
  to: event.to,
  reason: event.reason,
  message: withReadableSelectors(event.message),
  outcome: event.outcome,
  ...(event.detail !== undefined && { detail: event.detail }),
  partition: event.partition,
  uid: event.uid,
  specGeneration: event.specGeneration,
  metrics: event.metrics.map(readable),
  steps: stepViews(event.steps),
});

/** The name of a metric, and why it failed, with selectors as people write them. */
export const readable = (metric: MetricReading): MetricReading => {
  const name = withReadableSelectors(metric.name);
  return metric.kind === "failed" ? { ...metric, name, message: withReadableSelectors(metric.message) } : { ...metric, name };
};

export const stepView = ({ step, before, after, limit }: StepOutcome): StepView => {
  if (!limit) return { step, before, after };
  const { untilMs, ...rest } = limit;
  return { step, before, after, limit: { ...rest, ...(untilMs !== undefined && { until: rfc3339(untilMs) }) } };
};

export const stepViews = (steps: Evaluation["steps"]): readonly StepView[] => steps.map(stepView);
