import type { Pod } from "../../../model/observation.ts";
import { decimalText } from "../../../model/quantity.ts";
import { selectorOf } from "../../../model/selector.ts";
import type { HpaMetric, Marks } from "../../../model/spec-hpa.ts";
import type { MetricStatus } from "../../../model/windows.ts";
import { MAX_I32, toI32, toI64 } from "../../shared/arithmetic.ts";
import { externalValues } from "../../shared/metrics/external.ts";
import { identifierStatus, type Measurement, type MetricContext } from "../../shared/metrics/measurement.ts";
import { objectMilli } from "../../shared/metrics/object.ts";
import { type Failure, failure } from "../../shared/metrics/outcome.ts";
import { marksText, plainName } from "../../shared/metrics/plain-name.ts";
import { selectedPodMetrics } from "../../shared/metrics/pod-metrics.ts";
import { podsSamples } from "../../shared/metrics/pods.ts";
import { containerSamples, podSamples, type Samples } from "../../shared/metrics/samples.ts";

/** What a metric adds up to; `partial` when running pods of the target gave no sample, so that the sum is too small. */
interface Total {
  readonly milli: bigint;
  readonly partial: boolean;
}

/**
 * A metric of any type against two marks, by the arithmetic of the multi-threshold document (proposals.md §5): the sum, divided by the current count for `average`; strictly above the widened
 * high mark the current count grows by value ÷ high, strictly below the widened low mark it shrinks by value ÷ low, and between them it stays.
 */
export const measureMarked = (metric: HpaMetric, marks: Marks, context: MetricContext): Measurement => {
  const name = plainName(metric);
  const total = totalOf(metric, context);
  if ("message" in total) {
    const message = `failed to get ${name}: ${total.message}`;
    return { kind: "failed", name, reason: `FailedGet${metric.type}Metric`, message, chain: message };
  }
  const { currentReplicas: current, average } = context;
  const usage = Number(total.milli) / (average ? current : 1);
  const side = sideOf(usage, marks, context);
  const wanted = wantedOf(usage, side, marks, current);
  const value = decimalText(toI64(usage));
  return {
    kind: "measured",
    name,
    // What is missing from the sum could be what the pods are needed for: it may grow on it, never shrink.
    proposal: total.partial ? Math.max(wanted, current) : wanted,
    value,
    target: marksText(marks),
    ratio: Number.NaN,
    usageMilli: toI64(usage),
    between: side === "between",
    status: statusOf(metric, average ? { averageValue: value } : { value }),
  };
};

type Side = "above" | "below" | "between";

/** Strictly outside the widened marks; both ends belong to the band. */
const sideOf = (usage: number, { highMilli, lowMilli }: Marks, { tolerance }: MetricContext): Side => {
  const [high, low] = [Number(highMilli), Number(lowMilli)];
  if (usage > high + tolerance.up * high) return "above";
  return usage < low - tolerance.down * low ? "below" : "between";
};

/** The order of the float operations is that of the watermark rules, so that both forms decide alike. */
const wantedOf = (usage: number, side: Side, { highMilli, lowMilli }: Marks, current: number): number => {
  switch (side) {
    case "above":
      return Math.max(toI32(Math.min(Math.ceil((current * usage) / Number(highMilli)), MAX_I32)), current);
    case "below":
      return Math.min(Math.max(toI32(Math.floor((current * usage) / Number(lowMilli))), 1), current);
    case "between":
      return current;
  }
};

const statusOf = (metric: HpaMetric, current: object): MetricStatus => {
  switch (metric.type) {
    case "Resource":
      return { type: metric.type, resource: { name: metric.name, current } };
    case "ContainerResource":
      return { type: metric.type, containerResource: { name: metric.name, container: metric.container, current } };
    case "Pods":
      return { type: metric.type, pods: { metric: identifierStatus(metric.metric), current } };
    case "Object":
      return { type: metric.type, object: { metric: identifierStatus(metric.metric), describedObject: metric.describedObject, current } };
    case "External":
      return { type: metric.type, external: { metric: identifierStatus(metric.metric), current } };
  }
};

const totalOf = (metric: HpaMetric, context: MetricContext): Total | Failure => {
  const total = sumOf(metric, context);
  // Nothing is used less than not at all: such a value is a mistake of its source, and nothing shrinks on it.
  return !("message" in total) && total.milli < 0n ? failure(`its value ${decimalText(total.milli)} is below 0`) : total;
};

const sumOf = (metric: HpaMetric, context: MetricContext): Total | Failure => {
  switch (metric.type) {
    case "External": {
      const values = externalValues(metric, context);
      return "message" in values ? values : { milli: added(values), partial: false };
    }
    case "Object": {
      const milli = objectMilli(metric, context);
      return typeof milli === "bigint" ? { milli, partial: false } : milli;
    }
    case "Pods": {
      const selector = selectorOf(metric.metric.selector);
      return selector.kind === "invalid" ? failure(selector.message) : ofPods(podsSamples(metric, context), context.pods);
    }
    case "Resource":
    case "ContainerResource":
      return usageOf(metric, context);
  }
};

const usageOf = (metric: Extract<HpaMetric, { type: "Resource" | "ContainerResource" }>, context: MetricContext): Total | Failure => {
  const own = metric.type === "Resource" ? metric.selector : undefined;
  const selector = own && selectorOf(own);
  if (selector?.kind === "invalid") return failure(selector.message);
  const usages = selectedPodMetrics(context.answers, selector?.selector ?? context.podSelector);
  if ("message" in usages) return usages;
  const samples = metric.type === "Resource" ? podSamples(usages, metric.name) : containerSamples(usages, metric.name, metric.container);
  // Of pods that a selector of the metric's own finds, none is known to be missing.
  return ofPods(samples, selector ? [] : context.pods);
};

const ofPods = (samples: Samples | Failure, pods: readonly Pod[]): Total | Failure => {
  if ("message" in samples) return samples;
  if (samples.size === 0) return failure("no pod gave a sample");
  const partial = pods.some(({ name, phase, deleting }) => phase === "Running" && !deleting && !samples.has(name));
  return { milli: added([...samples.values()].map(({ milli }) => milli)), partial };
};

const added = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, milli) => sum + milli, 0n);
