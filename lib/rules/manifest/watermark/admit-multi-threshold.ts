import { invalidField, type Problem } from "../../fields/problem.ts";
import { anything, newReadContext, objectOf, type ReadContext } from "../../fields/shape.ts";
import { isObject } from "../../model/json.ts";
import type { AdmitForm, FormOutcome } from "../form.ts";
import { WHOLE } from "../hpa/thresholds.ts";
import { HEAD, THRESHOLD_FIELDS } from "../hpa/v2-shape.ts";
import { admitWatermarkAs } from "./admit-watermark.ts";
import {
  defaultsWarning,
  hasMarks,
  hasOwnFields,
  isWatermarksAlone,
  writtenMetrics,
  mixed,
  type Naming,
  named,
  objectAt,
} from "./multi-threshold-fields.ts";
import { WATERMARK_SPEC_FIELDS } from "./shape.ts";

/**
 * How one HPA form names the fields of its metrics, and what admits it when they have marks. A form
 * without a list of metrics uses the names of v2.
 */
export interface MarkedForm {
  readonly naming: Naming;
  readonly admit: AdmitForm;
}

/**
 * Admits a HorizontalPodAutoscaler with multi-threshold fields. With watermarks only, the watermark
 * rules decide; with other fields too, the rules of an HPA with marks. Every other manifest is left
 * to its own form.
 */
export const orMultiThreshold =
  (plain: AdmitForm, marked: MarkedForm): AdmitForm =>
  (document, context, old) => {
    const marks = hasMarks(document);
    if (!marks && !hasOwnFields(document)) return plain(document, context, old);
    const outcome =
      marks && isWatermarksAlone(named(document, "flat"))
        ? admitWatermarks(named(document, "flat"), context, old)
        : withDryRun(marks ? marked.admit : plain, named(document, marked.naming), context, old);
    const reported = new Set(outcome.problems.map(({ field }) => field));
    return {
      ...outcome,
      problems: [
        ...outcome.problems,
        ...mixed(document).filter(({ field }) => !reported.has(field)),
      ],
    };
  };

/** dryRun counts in every manifest of this form. Other HPA forms do not have it. */
const withDryRun = (
  admit: AdmitForm,
  document: unknown,
  context: ReadContext,
  old: FormOutcome | undefined,
): FormOutcome => {
  const { dryRun, ...spec } = objectAt(document, "spec");
  const dry = DRY_RUN(dryRun, "spec.dryRun", context);
  const outcome = admit(isObject(document) ? { ...document, spec } : document, context, old);
  if (!dry) return outcome;
  const stored = { ...outcome.stored, spec: { ...outcome.stored.spec, dryRun: true } };
  return {
    ...outcome,
    spec: { ...outcome.spec, dryRun: true },
    stored,
    meaning: { dryRun: true, other: outcome.meaning },
  };
};

const { scaleTargetRef, minReplicas, maxReplicas, dryRun: DRY_RUN } = WATERMARK_SPEC_FIELDS;
/** Metrics are read later, because the rule that refuses targets has its own message. */
const FIELDS = {
  scaleTargetRef,
  minReplicas,
  maxReplicas,
  metrics: anything,
  ...THRESHOLD_FIELDS,
  dryRun: DRY_RUN,
} as const;
const DOCUMENT = objectOf({ ...HEAD, spec: objectOf(FIELDS) });
/** Plain targets are refused beside marks, and the shape of the marks does not have them. */
const PLAIN = ["target", "targetValue", "targetAverageValue", "targetAverageUtilization"];

/**
 * The rules of the proposal: the current count, not the ready pods, and whole percents
 * (proposals.md §5).
 */
const admitWatermarks: AdmitForm = (document, context, old) => {
  // Reads the document twice: first for unknown fields of this form, then the values by the shared
  // shape.
  const own = newReadContext();
  DOCUMENT(document, "", own);
  context.warnings.push(...own.warnings, ...defaultsWarning(objectAt(document, "spec")));
  const outcome = admitWatermarkAs({
    counts: "current",
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
  })(ownFieldsOf(document), context, old);
  return { ...outcome, problems: [...outcome.problems, ...wholePercents(document)] };
};

/**
 * The document with only the fields of this form. An absent selector selects everything, and
 * refused targets are removed.
 */
const ownFieldsOf = (document: unknown): unknown => {
  const metrics = writtenMetrics(document).map((metric) =>
    isObject(metric) ? { ...metric, ...blocksOf(metric) } : metric,
  );
  const spec = Object.entries(objectAt(document, "spec")).filter(([name]) => name in FIELDS);
  const { apiVersion, kind, metadata } = isObject(document) ? document : {};
  return { apiVersion, kind, metadata, spec: { ...Object.fromEntries(spec), metrics } };
};

const blocksOf = (metric: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    ["external", "resource"]
      .filter((block) => isObject(metric[block]))
      .map((block) => {
        const plain = Object.entries(objectAt(metric, block)).filter(
          ([name]) => !PLAIN.includes(name),
        );
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
    return [invalidField(`spec.${field}`, ...WHOLE)];
  });
};
