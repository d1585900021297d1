import { decimalText } from "../../../model/quantity.ts";
import { podsQuery, queryKey } from "../../../model/query.ts";
import { canonicalSelector, selectorOf } from "../../../model/selector.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { identifierStatus, type Measurement, type MetricContext, NOT_ASKED } from "./measurement.ts";
import { type Failure, failure, type Proposal } from "./outcome.ts";
import { averageReplicas } from "./per-pod.ts";
import { customSamples, type Samples } from "./samples.ts";

type PodsMetric = Extract<HpaMetric, { type: "Pods" }>;

/** Pods (hpa.md 2.5): a custom metric of every pod against an amount per pod; readiness is never looked at. */
export const measurePods = (metric: PodsMetric, context: MetricContext): Measurement => {
  const name = `pods metric ${metric.metric.name}`;
  const outcome = propose(metric, context);
  if (outcome.kind === "failure") {
    const chain = `failed to get pods metric value: ${outcome.message}`;
    return { kind: "failed", name, reason: "FailedGetPodsMetric", message: outcome.message, chain };
  }
  const averageValue = decimalText(outcome.usageMilli);
  return {
    kind: "measured",
    name,
    proposal: outcome.replicas,
    value: averageValue,
    target: decimalText(metric.target.averageValueMilli ?? 0n),
    ratio: outcome.ratio,
    usageMilli: outcome.usageMilli,
    ...(outcome.overflowed && { overflowed: outcome.overflowed }),
    status: { type: "Pods", pods: { metric: identifierStatus(metric.metric), current: { averageValue } } },
  };
};

const propose = (metric: PodsMetric, context: MetricContext): Proposal | Failure => {
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failure(selector.message);
  const samples = podsSamples(metric, context);
  if ("message" in samples) return failure(`unable to get metric ${metric.metric.name}: ${samples.message}`);
  return averageReplicas({ ...context, samples, resource: "" }, metric.target.averageValueMilli ?? 0n);
};

export const podsSamples = ({ metric }: PodsMetric, { answers, podSelector }: MetricContext): Samples | Failure => {
  const query = podsQuery(metric, canonicalSelector(podSelector));
  const answer = query && answers.custom.get(queryKey(query));
  if (answer === undefined) return failure(NOT_ASKED);
  if (answer.kind === "failed") return failure(`unable to fetch metrics from custom metrics API: ${answer.failure.message}`);
  return answer.items.length === 0 ? failure("no metrics returned from custom metrics API") : customSamples(answer.items);
};
