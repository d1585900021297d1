import type { AdmitForm, FormOutcome } from "../form.ts";
import { HEAD } from "../hpa/read-v2.ts";
import { invalid, type Problem } from "../problem.ts";
import { anything, isObject, newReading, objectOf, type Reading } from "../shape.ts";
import { admitWatermarkAs } from "./admit-watermark.ts";
import { defaultsWarning, hasMarks, hasOwnFields, isWatermarksAlone, metricsOf, mixed, type Naming, named, objectAt } from "./marked.ts";
import { WATERMARK_SPEC_FIELDS } from "./shape.ts";

/** How one form of an HPA writes its metrics, and what admits it where they carry marks: a form without a list of metrics has those of v2. */
export interface MarkedForm {
  readonly naming: Naming;
  readonly admit: AdmitForm;
}

/**
 * A HorizontalPodAutoscaler with fields of the multi-threshold form: with its watermarks alone it is decided by them, with more by the rules of an HPA that know them as well. Every other one is
 * left to its own form.
 */
export const orMultiThreshold =
  (plain: AdmitForm, marked: MarkedForm): AdmitForm =>
  (document, reading, old) => {
    const marks = hasMarks(document);
    if (!marks && !hasOwnFields(document)) return plain(document, reading, old);
    const outcome =
      marks && isWatermarksAlone(named(document, "flat"))
        ? admitWatermarks(named(document, "flat"), reading, old)
        : withDryRun(marks ? marked.admit : plain, named(document, marked.naming), reading, old);
    const told = new Set(outcome.problems.map(({ field }) => field));
    return { ...outcome, problems: [...outcome.problems, ...mixed(document).filter(({ field }) => !told.has(field))] };
  };

/** Obeyed in every manifest of this form, and no field of any other HPA. */
const withDryRun = (admit: AdmitForm, document: unknown, reading: Reading, old: FormOutcome | undefined): FormOutcome => {
  const { dryRun, ...spec } = objectAt(document, "spec");
  const dry = WATERMARK_SPEC_FIELDS.dryRun(dryRun, "spec.dryRun", reading);
  const outcome = admit(isObject(document) ? { ...document, spec } : document, reading, old);
  if (!dry) return outcome;
  const stored = { ...outcome.stored, spec: { ...outcome.stored.spec, dryRun: true } };
  return { ...outcome, spec: { ...outcome.spec, dryRun: true }, stored, meaning: { dryRun: true, other: outcome.meaning } };
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
  dryRun: WATERMARK_SPEC_FIELDS.dryRun,
} as const;
const DOCUMENT = objectOf({ ...HEAD, spec: objectOf(FIELDS) });
/** Plain targets, which are refused beside marks; the shape of the marks does not know them. */
const PLAIN = ["target", "targetValue", "targetAverageValue", "targetAverageUtilization"];

/** The arithmetic of the document: the current count, not the ready pods; whole percents (proposals.md §5). */
const admitWatermarks: AdmitForm = (document, reading, old) => {
  // Of this form's own reading the unknown fields count; the values are read by the shared shape, which sees no field that this form does not have.
  const own = newReading();
  DOCUMENT(document, "", own);
  reading.warnings.push(...own.warnings, ...defaultsWarning(objectAt(document, "spec")));
  const outcome = admitWatermarkAs({ counts: "current", apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" })(
    ownFieldsOf(document),
    reading,
    old,
  );
  return { ...outcome, problems: [...outcome.problems, ...wholePercents(document)] };
};

/** The document with the fields of this form alone. Its metrics may leave the selector out, which selects everything; blocks lose the targets that are refused. */
const ownFieldsOf = (document: unknown): unknown => {
  const metrics = metricsOf(document).map((metric) => (isObject(metric) ? { ...metric, ...blocksOf(metric) } : metric));
  const spec = Object.entries(objectAt(document, "spec")).filter(([name]) => name in FIELDS);
  const { apiVersion, kind, metadata } = isObject(document) ? document : {};
  return { apiVersion, kind, metadata, spec: { ...Object.fromEntries(spec), metrics } };
};

const blocksOf = (metric: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    ["external", "resource"]
      .filter((block) => isObject(metric[block]))
      .map((block) => {
        const plain = Object.entries(objectAt(metric, block)).filter(([name]) => !PLAIN.includes(name));
        return [block, { metricSelector: {}, ...Object.fromEntries(plain) }];
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
