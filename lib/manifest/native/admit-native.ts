import { isObject } from "../../model/is-object.ts";
import { canonicalOf } from "../../model/quantity.ts";
import type { AdmitForm } from "../form.ts";
import { HEAD } from "../hpa/read-v2.ts";
import { amountText, withQuantityText } from "../hpa/stored.ts";
import { type Json, present } from "../json.ts";
import { metadataOf, metadataProblems } from "../metadata.ts";
import type { Problem } from "../problem.ts";
import { objectOf } from "../shape.ts";
import { boundProblems } from "./bounds.ts";
import { admitForeignRules } from "./foreign-rules.ts";
import { METRIC_FIELDS } from "./metric-fields.ts";
import { measureOf, nameOf } from "./read-metric.ts";
import { fieldProblems, nativeProblems } from "./rule-table.ts";
import { nativeSpecOf } from "./spec.ts";
import { GOVERNING, SPEC, SPEC_FIELDS, type SpecRead } from "./spec-fields.ts";
import { nativeWarnings } from "./warnings.ts";
import { COUNTS } from "./watermark-block.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: SPEC.shape });
const FORM = { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler" } as const;

/** Admits a PodAutoscaler (docs/pod-autoscaler.md): all problems at once, and warnings for fields without effect. */
export const admitNative: AdmitForm = (document, context, old) => {
  const read = DOCUMENT(document, "", context);
  const spec = read?.spec ?? SPEC.shape({}, "spec", context);
  if (!spec) throw new TypeError("an empty spec can always be read");
  const manifest = { spec, written: isObject(document) && isObject(document["spec"]) ? document["spec"] : {} };
  if (spec.rules === "hpa" || spec.rules === "watermark") {
    const outcome = admitForeignRules({ rules: spec.rules, document, read: spec }, context, old);
    return { ...outcome, problems: [...governedProblems(spec), ...fieldProblems(manifest), ...outcome.problems] };
  }
  const metadata = metadataOf(read?.metadata);
  context.warnings.push(...nativeWarnings(spec, context.syncPeriodSeconds));
  const problems = [
    ...metadataProblems(metadata, old?.metadata),
    ...boundProblems(SPEC.about, spec, "spec"),
    ...fieldProblems(manifest),
    ...nativeProblems(manifest),
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

/** One problem per field; its own bounds come before contradictions. */
const firstOfEach = (problems: readonly Problem[]): readonly Problem[] =>
  [...Map.groupBy(problems, ({ field }) => field).values()].flatMap(([first]) => first ?? []);

const governedProblems = (spec: SpecRead): readonly Problem[] => [
  ...GOVERNING.flatMap((name) => boundProblems(SPEC_FIELDS[name].about, spec[name], `spec.${name}`)),
  ...boundProblems(COUNTS, spec.watermark?.["counts"] ?? undefined, "spec.watermark.counts"),
];

/** The spec as it reads back, complete and in the order of the reference. Defaults of false are left out. */
const storedOf = (spec: SpecRead): Json =>
  inOrder(SPEC_FIELDS, {
    ...spec,
    dryRun: spec.dryRun || undefined,
    metrics: spec.metrics.map((metric) =>
      inOrder(METRIC_FIELDS, { ...metric, name: nameOf(metric), measure: measureOf(metric), scaleUpOnly: metric.scaleUpOnly || undefined }),
    ),
  });

const inOrder = (fields: object, members: Json): Json => present(Object.fromEntries(Object.keys(fields).map((name) => [name, members[name]])));
