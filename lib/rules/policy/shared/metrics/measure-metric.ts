import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { isMended } from "../../../model/spec-common.ts";
import type {
  Assumed,
  Measurement,
  MetricContext,
  Measured,
  Unmeasured,
  Proposal,
} from "./measurement.ts";
import { binaryText, decimalText } from "../../../model/quantity.ts";
import { type Failure, failure } from "../../../sources/source.ts";
import { CONTAINER_RESOURCE, RESOURCE } from "../../../sources/resource.ts";
import {
  averageReplicas,
  type PerPodInput,
  type PerPodProposal,
  utilizationReplicas,
} from "./per-pod.ts";
import {
  perReplicaReplicas,
  sharedCurve,
  totalCurve,
  totalReplicas,
  nonNegativeTotal,
  saturatedTotal,
} from "./replicas.ts";
import { selectorOf } from "../../../model/selector.ts";
import { PODS } from "../../../sources/pods.ts";
import { printSelector } from "../../../sources/metric-identifier.ts";
import { OBJECT } from "../../../sources/object.ts";
import { EXTERNAL } from "../../../sources/external.ts";
import { MAX_I64 } from "../../../model/quantity-parse.ts";

/** One metric of any type: what it proposes, or why it cannot (hpa.md 2.5). */
export const measureMetric = (metric: HpaMetric, context: MetricContext): Measurement => {
  switch (metric.type) {
    case "Resource":
    case "ContainerResource":
      return measureResource(metric, context);
    case "Pods":
      return measurePods(metric, context);
    case "Object":
      return measureObject(metric, context);
    case "External":
      return measureExternal(metric, context);
  }
};

type ResourceMetric = Extract<HpaMetric, { type: "Resource" | "ContainerResource" }>;

/**
 * Resource and ContainerResource (hpa.md 2.5): an amount per pod when averageValue is set, else a
 * percentage of the requests.
 */
const measureResource = (metric: ResourceMetric, context: MetricContext): Measurement => {
  const { averageValueMilli, averageUtilization } = metric.target;
  if (averageValueMilli !== undefined) return byAmount(metric, averageValueMilli, context);
  if (averageUtilization !== undefined) return byPercentage(metric, averageUtilization, context);
  const message = `invalid ${wordOf(metric)} metric source: neither an average utilization target nor an average value (usage) target was set`;
  return failedResource(metric, `${metric.name} resource`, message);
};

const byAmount = (
  metric: ResourceMetric,
  targetMilli: bigint,
  context: MetricContext,
): Measurement => {
  const name = `${metric.name} resource`;
  const input = perPodInput(metric, context);
  const outcome = "message" in input ? input : averageReplicas(input, targetMilli);
  if (outcome.kind === "failure")
    return failedResource(
      metric,
      name,
      `failed to get ${metric.name} usage: ${outcome.message}`,
      outcome.reason,
    );
  return measuredResource(metric, outcome, {
    name,
    value: amountText(metric.name, outcome.proposal.usageMilli),
    target: amountText(metric.name, targetMilli),
  });
};

const byPercentage = (
  metric: ResourceMetric,
  targetPercent: number,
  context: MetricContext,
): Measurement => {
  const name = `${metric.name} ${wordOf(metric)} utilization (percentage of request)`;
  const input = perPodInput(metric, context);
  const outcome =
    "message" in input ? input : utilizationReplicas(input, targetPercent, containerOf(metric));
  if (outcome.kind === "failure")
    return failedResource(
      metric,
      name,
      `failed to get ${metric.name} utilization: ${outcome.message}`,
      outcome.reason,
    );
  return measuredResource(metric, outcome, {
    name,
    value: `${outcome.proposal.utilization}%`,
    target: `${targetPercent}%`,
  });
};

const measuredResource = (
  metric: ResourceMetric,
  { proposal, counted, curve }: PerPodProposal,
  texts: Pick<Measured, "name" | "value" | "target">,
): Measurement => {
  const { replicas, ratio, usageMilli, utilization, overflowed, assumed } = proposal;
  const { name, value, target } = texts;
  const averageValue = amountText(metric.name, usageMilli);
  const current =
    utilization === undefined
      ? { averageValue }
      : { averageUtilization: utilization, averageValue };
  const status =
    metric.type === "Resource"
      ? RESOURCE.statusOf(metric, current)
      : CONTAINER_RESOURCE.statusOf(metric, current);
  const known = { kind: "measured", name, value, target, proposal: replicas, ratio } as const;
  const measured = { ...known, usageMilli, status, counted, curve };
  const whole = utilization === undefined ? measured : { ...measured, utilization };
  return overflowed || assumed
    ? {
        ...whole,
        ...(overflowed && { overflowed }),
        ...assumedIn(assumed, (milli) => amountText(metric.name, milli)),
      }
    : whole;
};

/** The value with what was assumed, as people read the metric. */
const assumedIn = (
  assumed: Assumed | undefined,
  textOf: (milli: bigint) => string,
): Pick<Measured, "assumed"> => {
  if (!assumed || assumed.pods === 0) return {};
  const { pods, as, utilization, usageMilli } = assumed;
  const value = utilization === undefined ? textOf(usageMilli) : `${utilization}%`;
  return { assumed: { pods, as, value } };
};

const failedResource = (
  metric: ResourceMetric,
  name: string,
  message: string,
  reason: string = `FailedGet${metric.type}Metric`,
): Unmeasured => {
  const outermost =
    metric.type === "Resource" ? `${metric.name} resource` : `${metric.container} container`;
  return {
    kind: "failed",
    name,
    reason,
    message,
    chain: `failed to get ${outermost} metric value: ${message}`,
  };
};

const perPodInput = (metric: ResourceMetric, context: MetricContext): PerPodInput | Failure => {
  const samples =
    metric.type === "Resource"
      ? RESOURCE.samples(metric, context)
      : CONTAINER_RESOURCE.samples(metric, context);
  if ("message" in samples)
    return failure(`unable to get metrics for resource ${metric.name}: ${samples.message}`);
  return { ...context, samples, resource: metric.name };
};

const wordOf = ({ type }: ResourceMetric): string =>
  type === "Resource" ? "resource" : "container resource";
const containerOf = (metric: ResourceMetric): string | undefined =>
  metric.type === "ContainerResource" ? metric.container : undefined;

/** Memory is shown in powers of 1024 (hpa.md 2.9). */
const amountText = (resource: string, milli: bigint): string =>
  resource === "memory" ? binaryText(milli) : decimalText(milli);

type PodsMetric = Extract<HpaMetric, { type: "Pods" }>;

/**
 * Pods (hpa.md 2.5): a custom metric of every pod against an amount per pod; readiness is never
 * looked at.
 */
const measurePods = (metric: PodsMetric, context: MetricContext): Measurement => {
  const name = PODS.nameOf(metric);
  const outcome = proposeForPods(metric, context);
  if (outcome.kind === "failure") {
    const chain = `failed to get pods metric value: ${outcome.message}`;
    const { message, reason = "FailedGetPodsMetric" } = outcome;
    return { kind: "failed", name, reason, message, chain };
  }
  const { proposal, counted, curve } = outcome;
  const { overflowed, assumed } = proposal;
  return {
    ...measuredTotal(
      { name, shown: (current) => PODS.statusOf(metric, current) },
      proposal,
      "averageValue",
      metric.target.averageValueMilli ?? 0n,
    ),
    ...{ counted, curve },
    ...assumedIn(assumed, decimalText),
    ...(overflowed && { overflowed }),
  };
};

const proposeForPods = (metric: PodsMetric, context: MetricContext): PerPodProposal | Failure => {
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failure(selector.message);
  const samples = PODS.samples(metric, context);
  if ("message" in samples)
    return failure(`unable to get metric ${metric.metric.name}: ${samples.message}`);
  return averageReplicas(
    { ...context, samples, resource: "" },
    metric.target.averageValueMilli ?? 0n,
  );
};

type ObjectMetric = Extract<HpaMetric, { type: "Object" }>;

/**
 * Object (hpa.md 2.5): which arithmetic holds is decided by type and value together, the one metric
 * where the type counts.
 */
const measureObject = (metric: ObjectMetric, context: MetricContext): Measurement => {
  const { type, valueMilli, averageValueMilli } = metric.target;
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failedObject(OBJECT.nameOf(metric), selector.message);
  if (type === "Value" && valueMilli !== undefined)
    return objectByTotal(metric, valueMilli, context);
  if (type === "AverageValue" && averageValueMilli !== undefined)
    return objectByReplica(metric, averageValueMilli, context);
  return failedObject(
    OBJECT.nameOf(metric),
    "invalid object metric source: neither a value target nor an average value target was set",
  );
};

const objectByTotal = (
  metric: ObjectMetric,
  targetMilli: bigint,
  context: MetricContext,
): Measurement => {
  const found = OBJECT.samples(metric, context);
  const outcome = "message" in found ? found : totalReplicas(found[0], targetMilli, context);
  if (outcome.kind === "failure") return failedObject(OBJECT.nameOf(metric), outcome.message);
  const shown = measuredTotal(
    { name: OBJECT.nameOf(metric), shown: (current) => OBJECT.statusOf(metric, current) },
    outcome,
    "value",
    targetMilli,
  );
  return { ...shown, curve: () => totalCurve(outcome.usageMilli, targetMilli, context) };
};

const objectByReplica = (
  metric: ObjectMetric,
  targetMilli: bigint,
  context: MetricContext,
): Measurement => {
  // The controller's own wording: before 1.38 it calls this one external.
  const name = isMended(context.readiness) ? OBJECT.nameOf(metric) : externalName(metric);
  const found = OBJECT.samples(metric, context);
  if ("message" in found)
    return failedObject(name, found.message, `failed to get ${metric.metric.name} object metric: `);
  const shown = measuredTotal(
    { name, shown: (current) => OBJECT.statusOf(metric, current) },
    perReplicaReplicas(found[0], targetMilli, context, "wrapping"),
    "averageValue",
    targetMilli,
  );
  return {
    ...shown,
    ...unshared(found[0], context),
    ...sharedCurve(found[0], targetMilli, context, "wrapping"),
  };
};

/** Where no replica shares a total, people see it whole; the status has the controller's number. */
const unshared = (
  totalMilli: bigint,
  { statusReplicas }: MetricContext,
): Pick<Measured, "value"> | undefined =>
  statusReplicas === 0 ? { value: decimalText(totalMilli) } : undefined;

/** What an amount was measured as: `shown` makes the metric's status of its current value. */
const measuredTotal = (
  {
    name,
    shown,
  }: { readonly name: string; readonly shown: (current: object) => Measured["status"] },
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
    status: shown({ [member]: value }),
    ...(outcome.inside && { inside: true }),
  };
};

const failedObject = (name: string, message: string, second = ""): Unmeasured => ({
  kind: "failed",
  name,
  reason: "FailedGetObjectMetric",
  message,
  chain: `failed to get object metric value: ${second}${message}`,
});

type ExternalMetric = Extract<HpaMetric, { type: "External" }>;

/** External (hpa.md 2.5): averageValue is looked at first, whatever the type says. */
const measureExternal = (metric: ExternalMetric, context: MetricContext): Measurement => {
  const { valueMilli, averageValueMilli } = metric.target;
  if (averageValueMilli !== undefined) return externalByReplica(metric, averageValueMilli, context);
  if (valueMilli !== undefined) return externalByTotal(metric, valueMilli, context);
  return failedExternal(
    metric,
    "invalid external metric source: neither a value target nor an average value target was set",
    "",
  );
};

const externalByReplica = (
  metric: ExternalMetric,
  targetMilli: bigint,
  context: MetricContext,
): Measurement => {
  const values = EXTERNAL.samples(metric, context);
  if ("message" in values)
    return failedExternal(
      metric,
      values.message,
      `failed to get ${metric.metric.name} external metric: `,
    );
  const totalMilli = nonNegativeTotal(values);
  const outcome = perReplicaReplicas(totalMilli, targetMilli, context, "saturated");
  const shown = {
    ...measuredTotal(external(metric), outcome, "averageValue", targetMilli),
    ...unshared(totalMilli, context),
    ...sharedCurve(totalMilli, targetMilli, context, "saturated"),
  };
  return totalMilli === MAX_I64 ? { ...shown, overflowed: true } : shown;
};

const externalByTotal = (
  metric: ExternalMetric,
  targetMilli: bigint,
  context: MetricContext,
): Measurement => {
  const values = EXTERNAL.samples(metric, context);
  const outcome =
    "message" in values ? values : totalReplicas(saturatedTotal(values), targetMilli, context);
  if (outcome.kind === "failure")
    return failedExternal(
      metric,
      outcome.message,
      `failed to get external metric ${metric.metric.name}: `,
    );
  return {
    ...measuredTotal(external(metric), outcome, "value", targetMilli),
    curve: () => totalCurve(outcome.usageMilli, targetMilli, context),
  };
};

const externalName = ({ metric }: ExternalMetric | ObjectMetric): string =>
  `external metric ${metric.name}(${printSelector(metric.selector)})`;

const external = (metric: ExternalMetric): Parameters<typeof measuredTotal>[0] => ({
  name: externalName(metric),
  shown: (current) => EXTERNAL.statusOf(metric, current),
});

const failedExternal = (metric: ExternalMetric, message: string, second: string): Unmeasured => ({
  kind: "failed",
  name: externalName(metric),
  reason: "FailedGetExternalMetric",
  message,
  chain: `failed to get ${metric.metric.name} external metric value: ${second}${message}`,
});
