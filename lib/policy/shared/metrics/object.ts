import { decimalText } from "../../../model/quantity.ts";
import { selectorOf } from "../../../model/selector.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { printSelector } from "../../../sources/metric-identifier.ts";
import { OBJECT } from "../../../sources/object.ts";
import type { Measured, Measurement, MetricContext, Unmeasured, Proposal } from "./measurement.ts";
import { perReplicaReplicas, totalReplicas } from "./whole.ts";

type ObjectMetric = Extract<HpaMetric, { type: "Object" }>;

/** Object (hpa.md 2.5): which arithmetic holds is decided by type and value together, the one metric where the type counts. */
export const measureObject = (metric: ObjectMetric, context: MetricContext): Measurement => {
  const { type, valueMilli, averageValueMilli } = metric.target;
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failed(OBJECT.nameOf(metric), selector.message);
  if (type === "Value" && valueMilli !== undefined) return byTotal(metric, valueMilli, context);
  if (type === "AverageValue" && averageValueMilli !== undefined) return byReplica(metric, averageValueMilli, context);
  return failed(OBJECT.nameOf(metric), "invalid object metric source: neither a value target nor an average value target was set");
};

const byTotal = (metric: ObjectMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  const found = OBJECT.samples(metric, context);
  const outcome = "message" in found ? found : totalReplicas(found[0], targetMilli, context);
  if (outcome.kind === "failure") return failed(OBJECT.nameOf(metric), outcome.message);
  return measured({ metric, name: OBJECT.nameOf(metric) }, outcome, "value", targetMilli);
};

const byReplica = (metric: ObjectMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  // The controller's own wording: it calls this one external.
  const name = `external metric ${metric.metric.name}(${printSelector(metric.metric.selector)})`;
  const found = OBJECT.samples(metric, context);
  if ("message" in found) return failed(name, found.message, `failed to get ${metric.metric.name} object metric: `);
  const outcome = perReplicaReplicas(found[0], targetMilli, context, "wrapping");
  return measured({ metric, name }, outcome, "averageValue", targetMilli);
};

const measured = (
  { metric, name }: { readonly metric: ObjectMetric; readonly name: string },
  outcome: Proposal,
  member: "value" | "averageValue",
  targetMilli: bigint,
): Measured => {
  const value = decimalText(outcome.usageMilli);
  return {
    kind: "measured",
    name,
    proposal: outcome.replicas,
    value,
    target: decimalText(targetMilli),
    ratio: outcome.ratio,
    usageMilli: outcome.usageMilli,
    status: OBJECT.statusOf(metric, { [member]: value }),
  };
};

const failed = (name: string, message: string, second = ""): Unmeasured => ({
  kind: "failed",
  name,
  reason: "FailedGetObjectMetric",
  message,
  chain: `failed to get object metric value: ${second}${message}`,
});
