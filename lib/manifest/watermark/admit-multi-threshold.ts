import type { AdmitForm } from "../form.ts";
import { HEAD } from "../hpa/read-v2.ts";
import { forbidden, invalid, type Problem } from "../problem.ts";
import { anything, isObject, newReading, objectOf } from "../shape.ts";
import { admitWatermarkAs } from "./admit-watermark.ts";
import { WATERMARK_SPEC_FIELDS } from "./shape.ts";

/** Fields of the multi-threshold document that no HPA has (proposals.md §5). */
const OWN_FIELDS = [
  "algorithm",
  "tolerance",
  "scaleUpLimitFactor",
  "scaleDownLimitFactor",
  "upscaleForbiddenWindowSeconds",
  "downscaleForbiddenWindowSeconds",
] as const;
const MARKS = ["highWatermark", "lowWatermark"] as const;
/** Plain targets of any HPA form, inside the block of a metric. */
const TARGETS = ["target", "targetValue", "targetAverageValue", "targetAverageUtilization"] as const;
const BLOCKS = ["external", "resource"] as const;

/** A HorizontalPodAutoscaler that carries watermarks is decided by them; every other one is left to its own form. */
export const orMultiThreshold =
  (plain: AdmitForm): AdmitForm =>
  (document, reading, old) =>
    hasWatermarks(document) ? admitMultiThreshold(document, reading, old) : plain(document, reading, old);

const objectAt = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
};

const metricsOf = (document: unknown): readonly unknown[] => {
  const { metrics } = objectAt(document, "spec");
  return Array.isArray(metrics) ? metrics : [];
};

const hasWatermarks = (document: unknown): boolean => {
  const spec = objectAt(document, "spec");
  const marked = metricsOf(document).some((metric) => BLOCKS.some((block) => MARKS.some((mark) => mark in objectAt(metric, block))));
  return marked || OWN_FIELDS.some((field) => field in spec);
};

const FIELDS = {
  scaleTargetRef: WATERMARK_SPEC_FIELDS.scaleTargetRef,
  minReplicas: WATERMARK_SPEC_FIELDS.minReplicas,
  maxReplicas: WATERMARK_SPEC_FIELDS.maxReplicas,
  // The blocks may carry targets as well: that they may not is a rule with words of its own.
  metrics: anything,
  algorithm: WATERMARK_SPEC_FIELDS.algorithm,
  tolerance: WATERMARK_SPEC_FIELDS.tolerance,
  scaleUpLimitFactor: WATERMARK_SPEC_FIELDS.scaleUpLimitFactor,
  scaleDownLimitFactor: WATERMARK_SPEC_FIELDS.scaleDownLimitFactor,
  upscaleForbiddenWindowSeconds: WATERMARK_SPEC_FIELDS.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds: WATERMARK_SPEC_FIELDS.downscaleForbiddenWindowSeconds,
} as const;
const DOCUMENT = objectOf({ ...HEAD, spec: objectOf(FIELDS) });

/** The arithmetic of the document: the current count, not the ready pods; whole percents (proposals.md §5). */
const admitMultiThreshold: AdmitForm = (document, reading, old) => {
  // A reading of the form's own fields, for unknown ones; the values are read by the shared shape.
  const own = newReading();
  DOCUMENT(document, "", own);
  reading.warnings.push(...own.warnings);
  const outcome = admitWatermarkAs({ counts: "current", apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" })(
    withSelectors(document),
    reading,
    old,
  );
  return { ...outcome, problems: [...outcome.problems, ...mixed(document), ...wholePercents(document)] };
};

/** The document's metrics may leave the selector out, which selects everything; blocks lose the targets that are refused below. */
const withSelectors = (document: unknown): unknown => {
  const metrics = metricsOf(document).map((metric) => (isObject(metric) ? { ...metric, ...blocksOf(metric) } : metric));
  return { ...(isObject(document) ? document : {}), spec: { ...objectAt(document, "spec"), metrics } };
};

const blocksOf = (metric: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    BLOCKS.filter((block) => isObject(metric[block])).map((block) => {
      const plain = Object.entries(objectAt(metric, block)).filter(([name]) => !TARGETS.some((target) => target === name));
      return [block, { metricSelector: {}, ...Object.fromEntries(plain) }];
    }),
  );

/** Watermarks beside a plain target on one metric, or on another one: which rule is meant cannot be guessed. Both places are named. */
const mixed = (document: unknown): readonly Problem[] =>
  metricsOf(document).flatMap((metric, index) =>
    BLOCKS.flatMap((block) => {
      const members = objectAt(metric, block);
      const target = TARGETS.find((name) => name in members);
      if (target === undefined) return [];
      const place = `spec.metrics[${index}].${block}`;
      const mark = MARKS.find((name) => name in members);
      const beside = mark === undefined ? "the watermark fields of this manifest" : `${place}.${mark}`;
      return [forbidden(`${place}.${target}`, `may not be set together with ${beside}`, "keep the target or the watermarks, not both")];
    }),
  );

const MOST_PERCENT = 100;

const wholePercents = (document: unknown): readonly Problem[] => {
  const spec = objectAt(document, "spec");
  return (["scaleUpLimitFactor", "scaleDownLimitFactor"] as const).flatMap((field) => {
    const value = spec[field];
    if (value === undefined || value === null) return [];
    const percent = Number(value);
    if (Number.isInteger(percent) && percent >= 0 && percent <= MOST_PERCENT) return [];
    return [invalid(`spec.${field}`, `must be a whole percentage from 0 to ${MOST_PERCENT}`, "write a whole number such as 30")];
  });
};
