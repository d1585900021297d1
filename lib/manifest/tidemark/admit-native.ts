import { canonicalOf } from "../../model/quantity.ts";
import type { AdmitForm } from "../form.ts";
import { HEAD } from "../hpa/read-v2.ts";
import { amountText, printed } from "../hpa/stored.ts";
import { type Json, present } from "../json.ts";
import { metadataOf, metadataProblems } from "../metadata.ts";
import { forbidden, type Problem } from "../problem.ts";
import { isObject, objectOf } from "../shape.ts";
import { boundProblems } from "./bounds.ts";
import { admitCarried } from "./carried.ts";
import { fieldsOf } from "./explain-field.ts";
import { SPEC, SPEC_FIELDS, type SpecRead } from "./fields.ts";
import { METRIC_FIELDS } from "./metric-fields.ts";
import { measureOf, nameOf } from "./read-metric.ts";
import { nativeSpecOf } from "./spec.ts";
import { nativeProblems } from "./validate.ts";
import { nativeWarnings } from "./warnings.ts";
import { COUNTS } from "./watermark-block.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: SPEC.shape });
const FORM = { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler" } as const;

/** Admits a PodAutoscaler (docs/pod-autoscaler.md): all problems at once, and warnings for what can never have an effect. */
export const admitNative: AdmitForm = (document, reading, old) => {
  const read = DOCUMENT(document, "", reading);
  const spec = read?.spec ?? SPEC.shape({}, "spec", reading);
  if (!spec) throw new TypeError("an empty spec can always be read");
  const misplaced = misplacedProblems(spec.rules, document);
  if (spec.rules === "hpa" || spec.rules === "watermark") {
    const outcome = admitCarried(spec.rules, document, spec, reading, old);
    return { ...outcome, problems: [...governedProblems(spec), ...misplaced, ...outcome.problems] };
  }
  const metadata = metadataOf(read?.metadata);
  reading.warnings.push(...nativeWarnings(spec, reading.syncPeriodSeconds));
  const problems = [...metadataProblems(metadata, old?.metadata), ...boundProblems(SPEC.about, spec, "spec"), ...misplaced, ...nativeProblems(spec)];
  const stored = storedOf(spec);
  return {
    metadata,
    problems: firstOfEach(problems),
    spec: nativeSpecOf(spec),
    stored: { ...FORM, spec: printed(stored, canonicalOf) },
    meaning: printed(stored, amountText),
  };
};

/** One sentence a field: its own bounds come before what it contradicts. */
const firstOfEach = (problems: readonly Problem[]): readonly Problem[] =>
  [...Map.groupBy(problems, ({ field }) => field).values()].flatMap(([first]) => first ?? []);

const GOVERNING = ["rules", "owner", "dryRun", "pausedUntil"] as const;

const governedProblems = (spec: SpecRead): readonly Problem[] => [
  ...GOVERNING.flatMap((name) => boundProblems(SPEC_FIELDS[name].about, spec[name], `spec.${name}`)),
  ...boundProblems(COUNTS, spec.watermark?.["counts"] ?? undefined, "spec.watermark.counts"),
];

const SHARED: readonly string[] = [...GOVERNING, "scaleTargetRef", "minReplicas", "maxReplicas"];

/** Fields of other rules than those named would have no effect: which are meant cannot be guessed. */
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

/** Fields of a block that stand beside it, as they do in the form that they come from; metrics by their type. */
const strayProblems = (spec: Json, written: readonly string[]): readonly Problem[] =>
  (["hpa", "watermark"] as const).flatMap((block) =>
    written
      .filter((name) =>
        Object.hasOwn(SPEC_FIELDS, name) ? block === "hpa" && isForeignList(name, spec) : Object.hasOwn(fieldsOf(SPEC_FIELDS[block].about), name),
      )
      .map((name) =>
        forbidden(
          `spec.${name}`,
          "may not stand here: it is of another form",
          `move it into spec.${block} with rules: ${block}, or let tidemark convert do it`,
        ),
      ),
  );

/** Metrics of autoscaling/v2 and of a WatermarkPodAutoscaler have a type, those of the native rules have none. */
const isForeignList = (name: string, spec: Json): boolean =>
  name === "metrics" && Array.isArray(spec[name]) && spec[name].some((metric: unknown) => isObject(metric) && typeof metric["type"] === "string");

/** Complete, as it reads back, in the order of the reference: names and measures spelled out; what is off is left out. */
const storedOf = (spec: SpecRead): Json =>
  inOrder(SPEC_FIELDS, {
    ...spec,
    dryRun: spec.dryRun || undefined,
    metrics: spec.metrics.map((metric) =>
      inOrder(METRIC_FIELDS, { ...metric, name: nameOf(metric), measure: measureOf(metric), scaleUpOnly: metric.scaleUpOnly || undefined }),
    ),
  });

const inOrder = (fields: object, members: Json): Json => present(Object.fromEntries(Object.keys(fields).map((name) => [name, members[name]])));
