import { decimalText } from "../../../model/quantity.ts";
import { selectorOf } from "../../../model/selector.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { PODS } from "../../../sources/pods.ts";
import { type Failure, failure } from "../../../sources/source.ts";
import type { Measurement, MetricContext, Proposal } from "./measurement.ts";
import { averageReplicas } from "./per-pod.ts";

type PodsMetric = Extract<HpaMetric, { type: "Pods" }>;

/** Pods (hpa.md 2.5): a custom metric of every pod against an amount per pod; readiness is never looked at. */
export const measurePods = (metric: PodsMetric, context: MetricContext): Measurement => {
  const name = PODS.nameOf(metric);
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
    status: PODS.statusOf(metric, { averageValue }),
  };
};

const propose = (metric: PodsMetric, context: MetricContext): Proposal | Failure => {
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failure(selector.message);
  const samples = PODS.samples(metric, context);
  if ("message" in samples) return failure(`unable to get metric ${metric.metric.name}: ${samples.message}`);
  return averageReplicas({ ...context, samples, resource: "" }, metric.target.averageValueMilli ?? 0n);
};
