import type { StepOutcome } from "../../../rules/model/decision.ts";
import { withReadableSelectors } from "../../../rules/policy/shared/scale-sentence.ts";
import type { MetricReading } from "../../../stack/report/metric-reading.ts";
import type { EventView, StepView } from "../../views/event.ts";
import { rfc3339, timeText } from "../times.ts";
import type { Evaluation, EventRecord } from "../../../rules/model/scale-records.ts";
import { present } from "../../../rules/model/json.ts";

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
  message: sentenceOf(event),
  outcome: event.outcome,
  ...(event.detail !== undefined && { detail: event.detail }),
  ...("by" in event && { by: event.by }),
  partition: event.partition,
  uid: event.uid,
  specGeneration: event.specGeneration,
  metrics: event.metrics.map(readable),
  steps: stepViews(event.steps),
});

/**
 * The sentence of a scale. The first one of the watermark rules has no words of its own
 * (watermark.md 2.18 a).
 */
export const sentenceOf = ({
  message,
  to,
}: {
  readonly message: string;
  readonly to?: number;
}): string =>
  message === "" && to !== undefined
    ? `the first decision of a WatermarkPodAutoscaler writes the count that there is, ${to}`
    : withReadableSelectors(message);

/** The name of a metric, and why it failed, with selectors as people write them. */
export const readable = (metric: MetricReading): MetricReading => {
  const name = withReadableSelectors(metric.name);
  return metric.kind === "failed"
    ? { ...metric, name, message: withReadableSelectors(metric.message) }
    : { ...metric, name };
};

export const stepView = ({ step, before, after, limit }: StepOutcome): StepView => {
  if (!limit) return { step, before, after };
  const { untilMs, wantedMs, ...rest } = limit;
  return {
    step,
    before,
    after,
    limit: present({
      ...rest,
      message: withReadableSelectors(rest.message),
      until: timeText(untilMs),
      wantedAt: timeText(wantedMs),
    }),
  };
};

export const stepViews = (steps: Evaluation["steps"]): readonly StepView[] => steps.map(stepView);
