import { boundProblems } from "../../fields/bounds.ts";
import { firstOfEach, type Problem, warnIf, type Warning } from "../../fields/problem.ts";
import { objectOf } from "../../fields/shape.ts";
import { isObject, type Json, present } from "../../model/json.ts";
import { canonicalOf, milliOf, floatOf } from "../../model/quantity.ts";
import { type AdmitForm, metadataOf, metadataProblems } from "../form.ts";
import { HEAD } from "../hpa/v2-shape.ts";
import { amountText, withQuantityText } from "../hpa/stored.ts";
import { admitForeignRules } from "./foreign-rules.ts";
import {
  METRIC_FIELDS,
  GOVERNING,
  SPEC,
  SPEC_FIELDS,
  type SpecRead,
  type MetricRead,
} from "./spec-fields.ts";
import { measureOf, nameOf, nativeSpecOf } from "./spec.ts";
import { fieldProblems, nativeProblems } from "./rule-table.ts";
import { storedSchedule } from "./schedule-fields.ts";
import { scheduleWarnings } from "./schedule-rules.ts";
import { unprintableProblems } from "./field-descriptions.ts";
import { COUNTS } from "../watermark/fields.ts";
import { directionWarnings, shortWindow } from "./direction-warnings.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: SPEC.shape });
const FORM = { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler" } as const;

/**
 * Admits a PodAutoscaler (docs/pod-autoscaler.md): all problems at once, and warnings for fields
 * without effect.
 */
export const admitNative: AdmitForm = (document, context, old) => {
  const read = DOCUMENT(document, "", context);
  const spec = read?.spec ?? SPEC.shape({}, "spec", context);
  if (!spec) throw new TypeError("an empty spec can always be read");
  const manifest = {
    spec,
    written: isObject(document) && isObject(document["spec"]) ? document["spec"] : {},
  };
  context.warnings.push(...scheduleWarnings(spec, context.syncPeriodSeconds));
  if (spec.rules === "hpa" || spec.rules === "watermark") {
    const outcome = admitForeignRules({ rules: spec.rules, document, read: spec }, context, old);
    return {
      ...outcome,
      problems: [
        ...governedProblems(spec),
        ...fieldProblems(manifest),
        ...outcome.problems,
        ...unprintableProblems(manifest.written, "spec", SPEC.about),
      ],
    };
  }
  const metadata = metadataOf(read?.metadata);
  context.warnings.push(...nativeWarnings(spec, context.syncPeriodSeconds));
  const problems = [
    ...metadataProblems(metadata, old?.metadata),
    ...boundProblems(SPEC.about, spec, "spec"),
    ...fieldProblems(manifest),
    ...nativeProblems(manifest),
    ...unprintableProblems(manifest.written, "spec", SPEC.about),
  ];
  const stored = storedOf(spec);
  return {
    metadata,
    problems: firstOfEach(problems),
    spec: nativeSpecOf(spec),
    stored: { ...FORM, spec: withQuantityText(stored, canonicalOf) },
    meaning: withQuantityText(stored, amountText),
  };
};

const governedProblems = (spec: SpecRead): readonly Problem[] => [
  ...GOVERNING.flatMap((name) =>
    boundProblems(SPEC_FIELDS[name].about, spec[name], `spec.${name}`),
  ),
  ...boundProblems(COUNTS, spec.watermark?.["counts"] ?? undefined, "spec.watermark.counts"),
];

/**
 * The spec as it reads back, complete and in the order of the reference. Defaults of false are left
 * out.
 */
const storedOf = (spec: SpecRead): Json =>
  inOrder(SPEC_FIELDS, {
    ...spec,
    dryRun: spec.dryRun || undefined,
    schedule: spec.schedule && spec.schedule.length > 0 ? storedSchedule(spec.schedule) : undefined,
    metrics: spec.metrics.map((metric) =>
      inOrder(METRIC_FIELDS, {
        ...metric,
        name: nameOf(metric),
        measure: measureOf(metric),
        input: metric.input || undefined,
        scaleUpOnly: metric.scaleUpOnly || undefined,
      }),
    ),
  });

const inOrder = (fields: object, members: Json): Json =>
  present(Object.fromEntries(Object.keys(fields).map((name) => [name, members[name]])));

/**
 * Warnings for allowed settings that have no effect, or less than it seems. The sync period is the
 * cluster's.
 */
const nativeWarnings = (read: SpecRead, syncPeriodSeconds: number): readonly Warning[] => [
  ...countWarnings(read),
  ...directionWarnings("scaleUp", read, syncPeriodSeconds),
  ...directionWarnings("scaleDown", read, syncPeriodSeconds),
  ...(read.flapBudget
    ? shortWindow("spec.flapBudget.periodSeconds", read.flapBudget.periodSeconds, syncPeriodSeconds)
    : []),
  ...(read.idle
    ? shortWindow("spec.idle.afterSeconds", read.idle.afterSeconds, syncPeriodSeconds)
    : []),
  ...warnIf(
    read.scaleUp.selectPolicy === "Disabled" && read.scaleDown.selectPolicy === "Disabled",
    "spec.scaleDown.selectPolicy",
    "both directions are disabled: no metric ever moves the count",
    "allow one of them",
  ),
  ...warnIf(
    read.metrics.some(({ input }) => !input) &&
      read.metrics.every(({ scaleUpOnly, input }) => scaleUpOnly || input),
    "spec.metrics",
    "every metric is scaleUpOnly: the count never shrinks",
    "leave scaleUpOnly out of one metric",
  ),
  ...read.metrics.flatMap((metric, index) =>
    metricWarnings(metric, `spec.metrics[${index}]`, read, syncPeriodSeconds),
  ),
];

const countWarnings = ({ minReplicas, maxReplicas, idle }: SpecRead): readonly Warning[] => {
  const message = `with minReplicas and maxReplicas both ${minReplicas} the count never moves`;
  return warnIf(
    minReplicas === maxReplicas && !idle,
    "spec.maxReplicas",
    message,
    "raise maxReplicas",
  );
};

const metricWarnings = (
  metric: MetricRead,
  path: string,
  spec: SpecRead,
  syncPeriodSeconds: number,
): readonly Warning[] => [
  ...warnIf(
    metric.tolerance?.down !== undefined && milliOf(metric.tolerance.down) >= 1000n,
    `${path}.tolerance.down`,
    "from 1 on the metric never asks for fewer pods",
    "write a share below 1, or scaleUpOnly",
  ),
  ...limitWarnings(metric, path),
  ...activationWarnings(metric, `${path}.activation`, spec),
  ...shortWindow(
    `${path}.onMissing.afterSeconds`,
    metric.onMissing.afterSeconds,
    syncPeriodSeconds,
  ),
  ...fallbackWarnings(metric, `${path}.onMissing`, spec),
];

/** Fallbacks that cannot act, or not while the workload is at rest. */
const fallbackWarnings = (
  { onMissing, activation }: MetricRead,
  path: string,
  { minReplicas, idle, scaleUp }: SpecRead,
): readonly Warning[] => {
  if (onMissing.action !== "fallback") return [];
  const wakes = idle !== undefined && activation !== undefined;
  return [
    ...warnIf(
      onMissing.replicas === minReplicas && !wakes,
      `${path}.replicas`,
      `a fallback to minReplicas adds no pod: there are never fewer than ${minReplicas}`,
      "write a larger count, or action: scaleUpOnly",
    ),
    ...warnIf(
      scaleUp.selectPolicy === "Disabled",
      `${path}.action`,
      "a fallback adds no pod while scaleUp has selectPolicy: Disabled",
      "write action: hold, or let scaleUp grow",
    ),
    ...warnIf(
      idle !== undefined && activation === undefined,
      `${path}.action`,
      "this fallback does not wake a workload at rest: only a metric with an activation does",
      "write it for the metric with the activation",
    ),
  ];
};

/** Pods cannot use more than their limit, so nothing above it is measured. */
const limitWarnings = (metric: MetricRead, path: string): readonly Warning[] => {
  const { resource, containerResource, target, watermarks, tolerance } = metric;
  const level = watermarks?.high ?? target;
  if ((resource ?? containerResource)?.of !== "limit" || measureOf(metric) !== "Percent" || !level)
    return [];
  const reached = Number(milliOf(level)) * (1 + (tolerance?.up ? floatOf(tolerance.up) : 0));
  const message = "no pod uses more than its limit: the metric never asks for more pods";
  const field = `${path}.${watermarks ? "watermarks.high" : "target"}`;
  return warnIf(
    reached >= ALL,
    field,
    message,
    "write a percentage below 100, with the tolerance above it",
  );
};

/** 100 percent in thousandths of a percent. */
const ALL = 100_000;

const activationWarnings = (
  metric: MetricRead,
  field: string,
  spec: SpecRead,
): readonly Warning[] => {
  if (!metric.activation) return [];
  if (!spec.idle)
    return [{ field, message: "without spec.idle it has no effect", fix: "add idle" }];
  const level = metric.target ?? metric.watermarks?.high;
  const pods = measureOf(metric) === "Average" ? BigInt(spec.minReplicas) : 1n;
  const isAbove = level !== undefined && milliOf(metric.activation) > milliOf(level) * pods;
  return warnIf(
    isAbove,
    field,
    "the workload rests at values for which this metric asks for more than minReplicas",
    "write a smaller activation",
  );
};
