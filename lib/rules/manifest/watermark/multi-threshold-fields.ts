import type { Problem, Warning } from "../../fields/problem.ts";
import { asList, asObject, isObject, type Json } from "../../model/json.ts";
import { besideTarget } from "../hpa/level-fields.ts";
import { THRESHOLD_FIELDS } from "../hpa/v2-shape.ts";
import { DEFAULTS } from "./shape.ts";

/** Finds multi-threshold fields in a manifest before its form reads it (proposals.md §5). */

/** Spec fields that no other HPA form has. */
const OWN_FIELDS = Object.keys(THRESHOLD_FIELDS);
const MARKS = ["highWatermark", "lowWatermark"] as const;
const BLOCKS = ["external", "resource", "pods", "object", "containerResource"] as const;
/**
 * Plain targets of any HPA form in the block of a metric. In an old Object metric `target` is the
 * described object.
 */
const TARGETS = [
  "target",
  "targetValue",
  "targetAverageValue",
  "targetAverageUtilization",
  "averageValue",
] as const;

export const objectAt = (value: unknown, name: string): Json => asObject(asObject(value)[name]);

export const writtenMetrics = (document: unknown): readonly unknown[] =>
  asList(objectAt(document, "spec")["metrics"]);

const isGiven = (members: Json, name: string): boolean =>
  (members[name] ?? undefined) !== undefined;

const isMarked = (metric: unknown): boolean =>
  BLOCKS.some((block) => MARKS.some((mark) => isGiven(objectAt(metric, block), mark)));

/**
 * True for a manifest of the proposal itself: marks on External metrics, or on Resource metrics
 * with a selector, and nothing else. The watermark rules decide it; with other HPA fields the rules
 * of an HPA decide.
 */
export const isWatermarksAlone = (document: unknown): boolean => {
  const spec = objectAt(document, "spec");
  return (
    writtenMetrics(document).every(isOwnMetric) &&
    !isGiven(spec, "behavior") &&
    !isGiven(spec, "constraints")
  );
};

const isOwnMetric = (metric: unknown): boolean => {
  if (!isMarked(metric)) return false;
  const type = isObject(metric) ? metric["type"] : undefined;
  return type === "External"
    ? "metricName" in objectAt(metric, "external")
    : type === "Resource" && isGiven(objectAt(metric, "resource"), "metricSelector");
};

/** How a form writes the name of a metric: in a block `metric`, or beside the other fields. */
export type Naming = "nested" | "flat";

/**
 * Renames the fields of metrics with marks, which may be written either way, to the way of this
 * form. Other metrics stay.
 */
export const named = (document: unknown, naming: Naming): unknown => {
  if (!isObject(document) || !hasMarks(document)) return document;
  const metrics = writtenMetrics(document).map((metric) =>
    isMarked(metric) ? blocksNamed(metric, naming) : metric,
  );
  return { ...document, spec: { ...objectAt(document, "spec"), metrics } };
};

const blocksNamed = (metric: unknown, naming: Naming): unknown => {
  if (!isObject(metric)) return metric;
  const blocks = (["external", "pods", "object"] as const).filter((block) =>
    isObject(metric[block]),
  );
  const rename = naming === "nested" ? nested : flat;
  return {
    ...metric,
    ...Object.fromEntries(blocks.map((block) => [block, rename(objectAt(metric, block), block)])),
  };
};

const nested = ({ metricName, metricSelector, selector = metricSelector, ...rest }: Json): Json => {
  const described = isObject(rest["target"]) && "kind" in rest["target"];
  const { target, ...others } = rest;
  return {
    ...(described ? { ...others, describedObject: target } : rest),
    ...(metricName === undefined && selector === undefined
      ? {}
      : { metric: { ...objectAt(rest, "metric"), name: metricName, selector } }),
  };
};

const flat = ({ metric, describedObject, ...rest }: Json, block: string): Json => {
  const { name, selector } = isObject(metric) ? metric : {};
  return {
    ...rest,
    ...(name === undefined ? {} : { metricName: name }),
    ...(selector === undefined
      ? {}
      : { [block === "external" ? "metricSelector" : "selector"]: selector }),
    ...(describedObject === undefined ? {} : { target: describedObject }),
  };
};

export const hasMarks = (document: unknown): boolean => writtenMetrics(document).some(isMarked);

export const hasOwnFields = (document: unknown): boolean =>
  OWN_FIELDS.some((field) => isGiven(objectAt(document, "spec"), field));

const isTarget = (members: Json, name: string): boolean =>
  isGiven(members, name) &&
  !(name === "target" && isObject(members["target"]) && "kind" in members["target"]);

/** Marks beside plain targets as written, because some forms would drop such a target silently. */
export const mixed = (document: unknown): readonly Problem[] =>
  writtenMetrics(document).flatMap((metric, index) =>
    BLOCKS.flatMap((block) => {
      const members = objectAt(metric, block);
      const mark = MARKS.find((name) => isGiven(members, name));
      const target = TARGETS.find((name) => isTarget(members, name));
      if (mark === undefined || target === undefined) return [];
      const path = `spec.metrics[${index}].${block}`;
      return [
        {
          field: `${path}.${target}`,
          type: "FieldValueForbidden",
          ...besideTarget(`${path}.${mark}`),
        },
      ];
    }),
  );

/** Warns of absent fields and their defaults, which the manifest does not show. */
export const defaultsWarning = (written: object): readonly Warning[] => {
  const present = new Set(
    Object.entries(written).flatMap(([name, value]) =>
      (value ?? undefined) === undefined ? [] : [name],
    ),
  );
  const absent = Object.entries(DEFAULTS).filter(([name]) => !present.has(name));
  if (absent.length === 0) return [];
  const message = `absent fields take the defaults of the multi-threshold form: ${absent.map(([name, value]) => `${name} ${value}`).join(", ")}`;
  return [
    {
      field: "spec",
      message,
      fix: "write them; a forbidden window of 0 forbids nothing, and a factor of 100 allows the count to double",
    },
  ];
};
