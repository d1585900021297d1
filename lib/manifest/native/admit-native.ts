import { isObject } from "../../model/is-object.ts";
import { canonicalOf } from "../../model/quantity.ts";
import type { AdmitForm } from "../form.ts";
import { HEAD } from "../hpa/read-v2.ts";
import { amountText, withQuantityText } from "../hpa/stored.ts";
import { type Json, present } from "../json.ts";
import { metadataOf, metadataProblems } from "../metadata.ts";
import { forbidden, type Problem } from "../problem.ts";
import { objectOf } from "../shape.ts";
import { boundProblems } from "./bounds.ts";
import { fieldsOf } from "./explain-field.ts";
import { admitForeignRules } from "./foreign-rules.ts";
import { METRIC_FIELDS } from "./metric-fields.ts";
import { measureOf, nameOf } from "./read-metric.ts";
import { nativeSpecOf } from "./spec.ts";
import { SPEC, SPEC_FIELDS, type SpecRead } from "./spec-fields.ts";
import { nativeProblems } from "./validate.ts";
import { nativeWarnings } from "./warnings.ts";
import { COUNTS } from "./watermark-block.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: SPEC.shape });
const FORM = { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler" } as const;

/** Admits a PodAutoscaler (docs/pod-autoscaler.md): all problems at once, and warnings for fields without effect. */
export const admitNative: AdmitForm = (document, context, old) => {
  const read = DOCUMENT(document, "", context);
  const spec = read?.spec ?? SPEC.shape({}, "spec", context);
  if (!spec) throw new TypeError("an empty spec can always be read");
  const misplaced = misplacedProblems(spec.rules, document);
  if (spec.rules === "hpa" || spec.rules === "watermark") {
    const outcome = admitForeignRules(spec.rules, document, spec, context, old);
    return { ...outcome, problems: [...governedProblems(spec), ...misplaced, ...outcome.problems] };
  }
  const metadata = metadataOf(read?.metadata);
  context.warnings.push(...nativeWarnings(spec, context.syncPeriodSeconds));
  const problems = [...metadataProblems(metadata, old?.metadata), ...boundProblems(SPEC.about, spec, "spec"), ...misplaced, ...nativeProblems(spec)];
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

const GOVERNING = ["rules", "owner", "dryRun", "pausedUntil"] as const;

const governedProblems = (spec: SpecRead): readonly Problem[] => [
  ...GOVERNING.flatMap((name) => boundProblems(SPEC_FIELDS[name].about, spec[name], `spec.${name}`)),
  ...boundProblems(COUNTS, spec.watermark?.["counts"] ?? undefined, "spec.watermark.counts"),
];

const SHARED: readonly string[] = [...GOVERNING, "scaleTargetRef", "minReplicas", "maxReplicas"];

/** Fields of other rules would have no effect, and the meaning cannot be guessed. */
const misplacedProblems = (rules: SpecRead["rules"], document: unknown): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  const spec = isObject(document) && isObject(document["spec"]) ? document["spec"] : {};
  const written = Object.keys(spec).filter((name) => (spec[name] ?? undefined) !== undefined);
  return [...foreignProblems(rules, spec, written), ...strayProblems(spec, written)];
};

const RULES: readonly string[] = SPEC_FIELDS.rules.about.choices ?? [];

const foreignProblems = (rules: SpecRead["rules"], spec: Json, written: readonly string[]): readonly Problem[] => {
  const given = written.filter((name) => Object.hasOwn(SPEC_FIELDS, name) && !SHARED.includes(name) && !isForeignList(name, spec));
  const foreign = rules === "native" ? given.filter((name) => name === "hpa" || name === "watermark") : given.filter((name) => name !== rules);
  return foreign.map((name) =>
    forbidden(
      `spec.${name}`,
      `may not be set with rules: ${rules}`,
      name === "hpa" || name === "watermark" ? `write rules: ${name}` : `move it into spec.${rules}, or write rules: native`,
    ),
  );
};

/** Fields of a block that stand beside it, as in the form that they come from. Metrics are recognized by their type. */
const strayProblems = (spec: Json, written: readonly string[]): readonly Problem[] =>
  (["hpa", "watermark"] as const).flatMap((block) =>
    written
      .filter((name) =>
        Object.hasOwn(SPEC_FIELDS, name) ? block === "hpa" && isForeignList(name, spec) : Object.hasOwn(fieldsOf(SPEC_FIELDS[block].about), name),
      )
      .map((name) =>
        forbidden(
          `spec.${name}`,
          "may not stand here: it belongs to another form",
          `move it into spec.${block} with rules: ${block}, or use tidemark convert`,
        ),
      ),
  );

/** Metrics of autoscaling/v2 and of a WatermarkPodAutoscaler have a type; native metrics have none. */
const isForeignList = (name: string, spec: Json): boolean =>
  name === "metrics" && Array.isArray(spec[name]) && spec[name].some((metric: unknown) => isObject(metric) && typeof metric["type"] === "string");

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
