import type { Warning } from "../../fields/problem.ts";
import { floatOf, milliOf } from "../../model/quantity.ts";
import { directionWarnings } from "./direction-warnings.ts";
import { measureOf } from "./read-metric.ts";
import { shortWindow } from "./short-window.ts";
import type { MetricRead, SpecRead } from "./spec-fields.ts";

/** Warnings for allowed settings that have no effect, or less than it seems. The sync period is that of the cluster. */
export const nativeWarnings = (read: SpecRead, syncPeriodSeconds: number): readonly Warning[] => [
  ...countWarnings(read),
  ...directionWarnings("scaleUp", read, syncPeriodSeconds),
  ...directionWarnings("scaleDown", read, syncPeriodSeconds),
  ...(read.flapBudget ? shortWindow("spec.flapBudget.periodSeconds", read.flapBudget.periodSeconds, syncPeriodSeconds) : []),
  ...(read.idle ? shortWindow("spec.idle.afterSeconds", read.idle.afterSeconds, syncPeriodSeconds) : []),
  ...(read.scaleUp.selectPolicy === "Disabled" && read.scaleDown.selectPolicy === "Disabled"
    ? [{ field: "spec.scaleDown.selectPolicy", message: "both directions are disabled: no metric ever moves the count", fix: "allow one of them" }]
    : []),
  ...(read.metrics.some(({ input }) => !input) && read.metrics.every(({ scaleUpOnly, input }) => scaleUpOnly || input)
    ? [{ field: "spec.metrics", message: "every metric is scaleUpOnly: the count never shrinks", fix: "leave scaleUpOnly out of one metric" }]
    : []),
  ...read.metrics.flatMap((metric, index) => metricWarnings(metric, `spec.metrics[${index}]`, read, syncPeriodSeconds)),
];

const countWarnings = ({ minReplicas, maxReplicas, idle }: SpecRead): readonly Warning[] =>
  minReplicas === maxReplicas && !idle
    ? [{ field: "spec.maxReplicas", message: `with minReplicas and maxReplicas both ${minReplicas} the count never moves`, fix: "raise maxReplicas" }]
    : [];

const metricWarnings = (metric: MetricRead, path: string, spec: SpecRead, syncPeriodSeconds: number): readonly Warning[] => [
  ...(metric.tolerance?.down && milliOf(metric.tolerance.down) >= 1000n
    ? [{ field: `${path}.tolerance.down`, message: "from 1 on the metric never asks for fewer pods", fix: "write a share below 1, or scaleUpOnly" }]
    : []),
  ...limitWarnings(metric, path),
  ...activationWarnings(metric, `${path}.activation`, spec),
  ...shortWindow(`${path}.onMissing.afterSeconds`, metric.onMissing.afterSeconds, syncPeriodSeconds),
  ...(metric.onMissing.replicas !== undefined && metric.onMissing.replicas === spec.minReplicas
    ? [
        {
          field: `${path}.onMissing.replicas`,
          message: `a fallback to minReplicas adds no pod: there are never fewer than ${spec.minReplicas}`,
          fix: "write a larger count, or action: scaleUpOnly",
        },
      ]
    : []),
];

/** Pods cannot use more than their limit, so nothing above it is measured. */
const limitWarnings = (metric: MetricRead, path: string): readonly Warning[] => {
  const { resource, containerResource, target, watermarks, tolerance } = metric;
  const level = watermarks?.high ?? target;
  if ((resource ?? containerResource)?.of !== "limit" || measureOf(metric) !== "Percent" || !level) return [];
  const reached = Number(milliOf(level)) * (1 + (tolerance?.up ? floatOf(tolerance.up) : 0));
  return reached >= ALL
    ? [
        {
          field: `${path}.${watermarks ? "watermarks.high" : "target"}`,
          message: "no pod uses more than its limit: the metric never asks for more pods",
          fix: "write a percentage below 100, with the tolerance above it",
        },
      ]
    : [];
};

/** 100 percent in thousandths of a percent. */
const ALL = 100_000;

const activationWarnings = (metric: MetricRead, field: string, spec: SpecRead): readonly Warning[] => {
  if (!metric.activation) return [];
  if (!spec.idle) return [{ field, message: "without spec.idle it has no effect", fix: "add idle" }];
  const level = metric.target ?? metric.watermarks?.high;
  const pods = measureOf(metric) === "Average" ? BigInt(spec.minReplicas) : 1n;
  return level && milliOf(metric.activation) > milliOf(level) * pods
    ? [{ field, message: "the workload rests at values for which this metric asks for more than minReplicas", fix: "write a smaller activation" }]
    : [];
};
