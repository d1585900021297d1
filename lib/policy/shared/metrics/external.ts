import { decimalText } from "../../../model/quantity.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { EXTERNAL } from "../../../sources/external.ts";
import { printSelector } from "../../../sources/metric-identifier.ts";
import { MAX_I64 } from "../arithmetic.ts";
import type { Measured, Measurement, MetricContext, Unmeasured, Proposal } from "./measurement.ts";
import { nonNegativeTotal, perReplicaReplicas, saturatedTotal, totalReplicas } from "./whole.ts";

type ExternalMetric = Extract<HpaMetric, { type: "External" }>;

/** External (hpa.md 2.5): averageValue is looked at first, whatever the type says. */
export const measureExternal = (metric: ExternalMetric, context: MetricContext): Measurement => {
  const { valueMilli, averageValueMilli } = metric.target;
  if (averageValueMilli !== undefined) return byReplica(metric, averageValueMilli, context);
  if (valueMilli !== undefined) return byTotal(metric, valueMilli, context);
  return failed(metric, "invalid external metric source: neither a value target nor an average value target was set", "");
};

const byReplica = (metric: ExternalMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  const values = EXTERNAL.samples(metric, context);
  if ("message" in values) return failed(metric, values.message, `failed to get ${metric.metric.name} external metric: `);
  const totalMilli = nonNegativeTotal(values);
  const outcome = perReplicaReplicas(totalMilli, targetMilli, context, "saturated");
  const shown = measured(metric, outcome, "averageValue", targetMilli);
  return totalMilli === MAX_I64 ? { ...shown, overflowed: true } : shown;
};

const byTotal = (metric: ExternalMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  const values = EXTERNAL.samples(metric, context);
  const outcome = "message" in values ? values : totalReplicas(saturatedTotal(values), targetMilli, context);
  if (outcome.kind === "failure") return failed(metric, outcome.message, `failed to get external metric ${metric.metric.name}: `);
  return measured(metric, outcome, "value", targetMilli);
};

const nameOf = ({ metric }: ExternalMetric): string => `external metric ${metric.name}(${printSelector(metric.selector)})`;

const measured = (metric: ExternalMetric, outcome: Proposal, member: "value" | "averageValue", targetMilli: bigint): Measured => {
  const value = decimalText(outcome.usageMilli);
  return {
    kind: "measured",
    name: nameOf(metric),
    proposal: outcome.replicas,
    value,
    target: decimalText(targetMilli),
    ratio: outcome.ratio,
    usageMilli: outcome.usageMilli,
    status: EXTERNAL.statusOf(metric, { [member]: value }),
  };
};

const failed = (metric: ExternalMetric, message: string, second: string): Unmeasured => ({
  kind: "failed",
  name: nameOf(metric),
  reason: "FailedGetExternalMetric",
  message,
  chain: `failed to get ${metric.metric.name} external metric value: ${second}${message}`,
});
