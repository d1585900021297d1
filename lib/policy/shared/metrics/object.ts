import { decimalText } from "../../../model/quantity.ts";
import { objectQuery, queryKey } from "../../../model/query.ts";
import { selectorOf } from "../../../model/selector.ts";
import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { identifierStatus, type Measured, type Measurement, type MetricContext, NOT_ASKED, type Unmeasured } from "./measurement.ts";
import { type Failure, failure, type Proposal } from "./outcome.ts";
import { printSelector } from "./plain-name.ts";
import { perReplicaReplicas, totalReplicas } from "./whole.ts";

type ObjectMetric = Extract<HpaMetric, { type: "Object" }>;

/** Object (hpa.md 2.5): which arithmetic holds is decided by type and value together, the one metric where the type counts. */
export const measureObject = (metric: ObjectMetric, context: MetricContext): Measurement => {
  const { type, valueMilli, averageValueMilli } = metric.target;
  const selector = selectorOf(metric.metric.selector);
  if (selector.kind === "invalid") return failed(nameOf(metric), selector.message);
  if (type === "Value" && valueMilli !== undefined) return byTotal(metric, valueMilli, context);
  if (type === "AverageValue" && averageValueMilli !== undefined) return byReplica(metric, averageValueMilli, context);
  return failed(nameOf(metric), "invalid object metric source: neither a value target nor an average value target was set");
};

const byTotal = (metric: ObjectMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  const total = objectMilli(metric, context);
  const outcome = typeof total === "bigint" ? totalReplicas(total, targetMilli, context) : total;
  if (outcome.kind === "failure") return failed(nameOf(metric), outcome.message);
  return measured({ metric, name: nameOf(metric) }, outcome, "value", targetMilli);
};

const byReplica = (metric: ObjectMetric, targetMilli: bigint, context: MetricContext): Measurement => {
  // The controller's own wording: it calls this one external.
  const name = `external metric ${metric.metric.name}(${printSelector(metric.metric.selector)})`;
  const total = objectMilli(metric, context);
  if (typeof total !== "bigint") return failed(name, total.message, `failed to get ${metric.metric.name} object metric: `);
  const outcome = perReplicaReplicas(total, targetMilli, context, "wrapping");
  return measured({ metric, name }, outcome, "averageValue", targetMilli);
};

const nameOf = ({ metric, describedObject }: ObjectMetric): string => `${describedObject.kind} metric ${metric.name}`;

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
    status: {
      type: "Object",
      object: { metric: identifierStatus(metric.metric), describedObject: metric.describedObject, current: { [member]: value } },
    },
  };
};

const failed = (name: string, message: string, second = ""): Unmeasured => ({
  kind: "failed",
  name,
  reason: "FailedGetObjectMetric",
  message,
  chain: `failed to get object metric value: ${second}${message}`,
});

/** The one value of the described object. */
export const objectMilli = ({ metric, describedObject }: ObjectMetric, { answers, namespace }: MetricContext): bigint | Failure => {
  const query = objectQuery(metric, describedObject, namespace);
  const answer = query && answers.custom.get(queryKey(query));
  const unable = (cause: string): Failure =>
    failure(
      `unable to get metric ${metric.name} on ${describedObject.kind} ${namespace}/${describedObject.name}: unable to fetch metrics from custom metrics API: ${cause}`,
    );
  if (answer === undefined) return unable(NOT_ASKED);
  if (answer.kind === "failed") return unable(answer.failure.message);
  const [only, ...more] = answer.items;
  if (only === undefined || more.length > 0)
    return unable(`the custom metrics API server returned ${answer.items.length} results when we asked for exactly one`);
  return only.milli;
};
