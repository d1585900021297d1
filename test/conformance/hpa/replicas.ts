import {
  labelIndex,
  canonicalSelector,
  type LabelSelector,
  type Selector,
} from "../../../lib/rules/model/selector.ts";
import { parseSelector } from "../../../lib/rules/model/selector-text.ts";
import type {
  DescribedObject,
  HpaMetric,
  MetricIdentifier,
  MetricTarget,
} from "../../../lib/rules/model/spec-hpa.ts";
import { measureMetric } from "../../../lib/rules/policy/shared/metrics/measure-metric.ts";
import { type Difference, differences } from "../differences.ts";
import type { VectorCase } from "../vector-file.ts";
import { type RawAnswers, readAnswers } from "./observed.ts";
import { externalQuery, type ExternalQuery } from "../../../lib/rules/sources/external.ts";
import { objectQuery } from "../../../lib/rules/sources/object.ts";
import type { HpaVersion } from "../../../lib/rules/model/spec-common.ts";
import { podsQuery } from "../../../lib/rules/sources/pods.ts";
import type { CustomQuery } from "../../answers.ts";
import { readPods } from "../../cluster/read/answers.ts";

interface ReplicasCase {
  readonly function:
    | "resourceUtilization"
    | "resourceValue"
    | "pods"
    | "object"
    | "external"
    | "objectPerPod"
    | "externalPerPod";
  readonly now: string;
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
  readonly tolerance: { readonly down: number; readonly up: number };
  readonly namespace: string;
  readonly currentReplicas?: number;
  readonly statusReplicas?: number;
  /** Thousandths, or percent. */
  readonly target: string;
  readonly selector?: string;
  readonly resource?: string;
  readonly container?: string;
  readonly metric?: string;
  readonly metricSelector?: LabelSelector;
  readonly describedObject?: DescribedObject;
  readonly pods?: readonly unknown[];
  readonly answers: RawAnswers;
  /** Absent: the release that the vectors were recorded from. */
  readonly hpaVersion?: HpaVersion;
  readonly expect: {
    readonly replicas?: number;
    readonly usage?: string;
    readonly utilization?: number;
    readonly error?: string;
  };
}

/** One metric: raw answers and pods → observation → proposal. */
export const runReplicas = (raw: VectorCase): readonly Difference[] => {
  const vector = raw as unknown as ReplicasCase;
  const podSelector = selectorOf(vector.selector ?? "");
  const metric = metricOf(vector);
  const { custom, external } = queriesOf(metric, vector.namespace, podSelector);
  const measurement = measureMetric(metric, {
    namespace: vector.namespace,
    currentReplicas: vector.currentReplicas ?? 0,
    statusReplicas: vector.statusReplicas ?? 0,
    podSelector,
    pods: labelIndex(readPods(vector.pods ?? [])).select(podSelector),
    answers: readAnswers(vector.answers, custom, external),
    tolerance: vector.tolerance,
    readiness: {
      nowMs: Date.parse(vector.now),
      cpuInitializationPeriodMs: vector.cpuInitializationPeriodSeconds * 1000,
      initialReadinessDelayMs: vector.initialReadinessDelaySeconds * 1000,
      ...(vector.hpaVersion && { hpaVersion: vector.hpaVersion }),
    },
  });
  // Only that it fails is asserted, not in which words.
  if (measurement.kind === "failed")
    return vector.expect.error ? [] : differences(vector.expect, { error: measurement.message });
  const { proposal: replicas, usageMilli, utilization } = measurement;
  return differences(vector.expect, { replicas, usage: usageMilli.toString(), utilization });
};

const selectorOf = (text: string): Selector => {
  const reading = parseSelector(text);
  if (reading.kind === "invalid") throw new RangeError(reading.message);
  return reading.selector;
};

const metricOf = ({
  function: name,
  resource = "",
  container,
  metric = "",
  metricSelector,
  describedObject,
  target,
}: ReplicasCase): HpaMetric => {
  const identifier: MetricIdentifier = metricSelector
    ? { name: metric, selector: metricSelector }
    : { name: metric };
  const resourceMetric = (wanted: MetricTarget): HpaMetric =>
    container === undefined
      ? { type: "Resource", name: resource, target: wanted }
      : { type: "ContainerResource", name: resource, container, target: wanted };
  const object = (wanted: MetricTarget): HpaMetric => ({
    type: "Object",
    describedObject: describedObject ?? { kind: "", name: "" },
    metric: identifier,
    target: wanted,
  });
  const value: MetricTarget = { type: "Value", valueMilli: BigInt(target) };
  const averageValue: MetricTarget = { type: "AverageValue", averageValueMilli: BigInt(target) };
  switch (name) {
    case "resourceUtilization":
      return resourceMetric({ type: "Utilization", averageUtilization: Number(target) });
    case "resourceValue":
      return resourceMetric(averageValue);
    case "pods":
      return { type: "Pods", metric: identifier, target: averageValue };
    case "object":
      return object(value);
    case "objectPerPod":
      return object(averageValue);
    case "external":
      return { type: "External", metric: identifier, target: value };
    case "externalPerPod":
      return { type: "External", metric: identifier, target: averageValue };
  }
};

const queriesOf = (
  metric: HpaMetric,
  namespace: string,
  podSelector: Selector,
): { readonly custom: readonly CustomQuery[]; readonly external: readonly ExternalQuery[] } => {
  const custom =
    metric.type === "Pods"
      ? podsQuery(metric.metric, canonicalSelector(podSelector))
      : metric.type === "Object"
        ? objectQuery(metric.metric, metric.describedObject, namespace)
        : undefined;
  const external = metric.type === "External" ? externalQuery(metric.metric) : undefined;
  return { custom: custom ? [custom] : [], external: external ? [external] : [] };
};
