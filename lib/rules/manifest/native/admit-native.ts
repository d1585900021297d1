import type { FieldDescription } from "../../fields/field-types.ts";
import {
  firstOfEach,
  invalidField,
  notSupported,
  type Problem,
  required,
  warnIf,
  type Warning,
} from "../../fields/problem.ts";
import { objectOf } from "../../fields/shape.ts";
import { readInstant } from "../../model/time-text.ts";
import { isObject, type Json, present } from "../../model/json.ts";
import { canonicalOf, milliOf, type Quantity, signOf, floatOf } from "../../model/quantity.ts";
import { pathSegmentFaults } from "../../model/kubernetes-names.ts";
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

/** Problems of a value against its description: required, choices, least and most. */
const boundProblems = (
  about: FieldDescription,
  value: unknown,
  path: string,
): readonly Problem[] => {
  if (isMissing(about, value))
    return about.required ? [required(path, "", `write ${last(path)}: ${about.meaning}`)] : [];
  if (about.readElsewhere) return [];
  return CHECKS[about.type]?.(about, value, path) ?? [];
};

/**
 * An empty text means absent, but where there is a default, and for a choice or a time, it is a
 * wrong value.
 */
const isMissing = (
  { type, required: needed, default: filled }: FieldDescription,
  value: unknown,
): boolean =>
  value === undefined ||
  (value === "" && (needed === true || (type === "text" && filled === undefined)));

type Check = (about: FieldDescription, value: unknown, path: string) => readonly Problem[];

const memberProblems: Check = ({ fields = {} }, value, path) =>
  Object.entries(fields).flatMap(([name, member]) =>
    boundProblems(member, isObject(value) ? value[name] : undefined, `${path}.${name}`),
  );

const itemProblems: Check = (about, value, path) => {
  const { items, key, leastItems = 0, mostItems = Number.POSITIVE_INFINITY } = about;
  if (!items || !Array.isArray(value)) return [];
  if (value.length < leastItems)
    return [invalidField(path, "must have at least one", "write one, or leave the field out")];
  if (value.length > mostItems)
    return [
      invalidField(
        path,
        `must have at most ${mostItems} items, not ${value.length}`,
        `write ${mostItems} or fewer`,
      ),
    ];
  return [
    ...value.flatMap((entry: unknown, index) => boundProblems(items, entry, `${path}[${index}]`)),
    ...(key === undefined ? [] : repeatedKeys(key, value, path)),
  ];
};

/** The field by which the items of a list are told apart. An absent one is reported as such. */
const repeatedKeys = (key: string, items: readonly unknown[], path: string): readonly Problem[] => {
  const names = items.map((item) => (isObject(item) ? item[key] : undefined));
  const repeated = names.flatMap((name, index) =>
    name && names.indexOf(name) !== index ? [index] : [],
  );
  const detail = (name: unknown): string =>
    `must be unique: "${String(name)}" is the ${key} of another entry`;
  return repeated.map((index) =>
    invalidField(
      `${path}[${index}].${key}`,
      detail(names[index]),
      `give this entry a ${key} of its own`,
    ),
  );
};

/** A name becomes a part of a path, and some texts have a form. */
const textProblems: Check = (
  { segment, form, mostCharacters = Number.POSITIVE_INFINITY },
  value,
  path,
) => {
  const written = String(value);
  // A text has at most as many characters as code units, which need no counting.
  const characters = written.length > mostCharacters ? [...written].length : 0;
  if (characters > mostCharacters) {
    const detail = `must have at most ${mostCharacters} characters, and has ${characters}`;
    return [{ field: path, type: "FieldValueTooLong", detail, fix: "write a shorter one" }];
  }
  if (segment)
    return pathSegmentFaults(written).map((fault) =>
      invalidField(path, fault, "write the name in the cluster, without / and %"),
    );
  return form?.detail === undefined || new RegExp(form.pattern, "u").test(written)
    ? []
    : [invalidField(path, form.detail, form.fix ?? "")];
};

const choiceProblems: Check = ({ choices = [] }, value, path) =>
  choices.includes(String(value)) ? [] : [notSupported(path, choices)];

const timeProblems: Check = (_, value, path) =>
  readInstant(String(value)) !== undefined
    ? []
    : [invalidField(path, "must be an RFC 3339 time", "write it like 2030-01-31T08:00:00Z")];

const rangeProblems = (
  { least, most }: FieldDescription,
  value: number,
  path: string,
): readonly Problem[] => {
  if (least !== undefined && value < least)
    return [
      invalidField(path, `must be greater than or equal to ${least}`, `write ${least} or more`),
    ];
  if (most !== undefined && value > most)
    return [invalidField(path, `must be less than or equal to ${most}`, `write ${most} or less`)];
  return [];
};

const last = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/**
 * A value less than a thousandth below 0 would be rounded up (hpa.md 0.4), but it is below every
 * bound.
 */
const unitsOf = (quantity: Quantity): number => {
  const units = Number(milliOf(quantity)) / 1000;
  return signOf(quantity) < 0 ? Math.min(units, -Number.EPSILON) : units;
};

/** Checks by type. Flags have no bounds. */
const CHECKS: Readonly<Partial<Record<FieldDescription["type"], Check>>> = {
  object: memberProblems,
  list: itemProblems,
  text: textProblems,
  choice: choiceProblems,
  time: timeProblems,
  integer: (about, value, path) => rangeProblems(about, Number(value), path),
  quantity: (about, value, path) => rangeProblems(about, unitsOf(value as Quantity), path),
};

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
