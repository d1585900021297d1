import { binaryText, decimalText } from "../../../model/quantity.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { type Failure, failure } from "../../../sources/source.ts";
import { CONTAINER_RESOURCE, RESOURCE } from "../../../sources/resource.ts";
import type { Measured, Measurement, MetricContext, Unmeasured, Proposal } from "./measurement.ts";
import { averageReplicas, type PerPodInput, utilizationReplicas } from "./per-pod.ts";

type ResourceMetric = Extract<HpaMetric, { type: "Resource" | "ContainerResource" }>;

/** Resource and ContainerResource (hpa.md 2.5): an amount per pod when averageValue is set, else a percentage of the requests. */
export const measureResource = (metric: ResourceMetric, context: MetricContext): Measurement => {
  const { averageValueMilli, averageUtilization } = metric.target;
  if (averageValueMilli !== undefined) return byAmount(metric, averageValueMilli, context);
  if (averageUtilization !== undefined) return byPercentage(metric, averageUtilization, context);
  const message = `invalid ${wordOf(metric)} metric source: neither an average utilization target nor an average value (usage) target was set`;
  return failed(metric, `${metric.name} resource`, message);
};

const byAmount = (metric: ResourceMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  const name = `${metric.name} resource`;
  const input = perPodInput(metric, context);
  const outcome = "message" in input ? input : averageReplicas(input, targetMilli);
  if (outcome.kind === "failure") return failed(metric, name, `failed to get ${metric.name} usage: ${outcome.message}`);
  return measured(metric, outcome, {
    name,
    value: amountText(metric.name, outcome.usageMilli),
    target: amountText(metric.name, targetMilli),
  });
};

const byPercentage = (metric: ResourceMetric, targetPercent: number, context: MetricContext): Measurement => {
  const name = `${metric.name} ${wordOf(metric)} utilization (percentage of request)`;
  const input = perPodInput(metric, context);
  const outcome = "message" in input ? input : utilizationReplicas(input, targetPercent, containerOf(metric));
  if (outcome.kind === "failure") return failed(metric, name, `failed to get ${metric.name} utilization: ${outcome.message}`);
  return measured(metric, outcome, { name, value: `${outcome.utilization}%`, target: `${targetPercent}%` });
};

const measured = (metric: ResourceMetric, outcome: Proposal, texts: Pick<Measured, "name" | "value" | "target">): Measurement => {
  const { replicas, ratio, usageMilli, utilization, overflowed } = outcome;
  const averageValue = amountText(metric.name, usageMilli);
  const current = utilization === undefined ? { averageValue } : { averageUtilization: utilization, averageValue };
  const status = metric.type === "Resource" ? RESOURCE.statusOf(metric, current) : CONTAINER_RESOURCE.statusOf(metric, current);
  const amounts = { usageMilli, ...(utilization !== undefined && { utilization }), ...(overflowed && { overflowed }) };
  return { kind: "measured", ...texts, proposal: replicas, ratio, ...amounts, status };
};

const failed = (metric: ResourceMetric, name: string, message: string): Unmeasured => {
  const outermost = metric.type === "Resource" ? `${metric.name} resource` : `${metric.container} container`;
  return { kind: "failed", name, reason: `FailedGet${metric.type}Metric`, message, chain: `failed to get ${outermost} metric value: ${message}` };
};

const perPodInput = (metric: ResourceMetric, context: MetricContext): PerPodInput | Failure => {
  const samples = metric.type === "Resource" ? RESOURCE.samples(metric, context) : CONTAINER_RESOURCE.samples(metric, context);
  if ("message" in samples) return failure(`unable to get metrics for resource ${metric.name}: ${samples.message}`);
  return { ...context, samples, resource: metric.name };
};

const wordOf = ({ type }: ResourceMetric): string => (type === "Resource" ? "resource" : "container resource");
const containerOf = (metric: ResourceMetric): string | undefined => (metric.type === "ContainerResource" ? metric.container : undefined);

/** Memory is shown in powers of 1024 (hpa.md 2.9). */
const amountText = (resource: string, milli: bigint): string => (resource === "memory" ? binaryText(milli) : decimalText(milli));
