import { forbidden, type Problem } from "../../fields/problem.ts";
import { newReadContext, type ReadContext } from "../../fields/shape.ts";
import { isObject, type Json, present } from "../../model/json.ts";
import type { Form, FormOutcome } from "../form.ts";
import { admitHpa } from "../hpa/admit-hpa.ts";
import { readOriginal } from "../hpa/read-original.ts";
import { readV2 } from "../hpa/v2-shape.ts";
import { admitWatermarkAs } from "../watermark/admit-watermark.ts";
import { storedSchedule } from "./schedule-fields.ts";
import { governedOf } from "./spec.ts";
import type { SpecRead } from "./spec-fields.ts";

/** Fields that all rules share. The other fields of a foreign form stand in a block of its name. */
const SHARED = ["scaleTargetRef", "minReplicas", "maxReplicas"] as const;
/** Fields that must not stand inside the block, so that there are never two values. */
const OUTSIDE = [...SHARED, "dryRun"] as const;

type Foreign = "hpa" | "watermark";

interface ForeignManifest {
  readonly rules: Foreign;
  readonly document: unknown;
  readonly read: SpecRead;
}

/**
 * Admits a manifest with the rules of another form: builds the manifest of that form, lets the form
 * admit it, and translates the paths. `dryRun` is a field of the watermark rules.
 */
export const admitForeignRules = (
  { rules, document, read }: ForeignManifest,
  context: ReadContext,
  old: FormOutcome | undefined,
): FormOutcome => {
  const own = newReadContext();
  const { admit, apiVersion, kind, target } = formOf(rules, read);
  const { counts: _counts, ...written } = read[rules] ?? {};
  const block = Object.fromEntries(
    Object.entries(written).filter(
      ([name, value]) => !OUTSIDE.some((outside) => outside === name) && !isNoOriginal(name, value),
    ),
  );
  const raw = isObject(document) && isObject(document["spec"]) ? document["spec"] : {};
  const shared = Object.fromEntries(
    SHARED.filter((name) => name in raw).map((name) => [
      name === "scaleTargetRef" ? target : name,
      raw[name],
    ]),
  );
  const spec = {
    ...block,
    ...shared,
    ...(rules === "watermark" && read.dryRun && { dryRun: true }),
  };
  const metadata = isObject(document) ? document["metadata"] : undefined;
  const outcome = admit({ apiVersion, kind, metadata, spec }, own, old);
  const ownPath = (field: string): string => pathIn(rules, field);
  // The shared fields and the metadata were read before, so their type problems are already
  // reported.
  context.problems.push(
    ...own.problems
      .filter(({ field }) => ownPath(field) !== field)
      .map((problem) => moved(problem, ownPath)),
  );
  context.warnings.push(
    ...own.warnings
      .filter(({ field }) => !field.startsWith("metadata"))
      .map(({ meant, ...warning }) => ({
        ...warning,
        field: ownPath(warning.field),
        ...(meant !== undefined && { meant: ownPath(meant) }),
      })),
  );
  const stored = storedForeign(rules, read, outcome.stored.spec);
  return {
    metadata: outcome.metadata,
    problems: [
      ...misplacedProblems(rules, written),
      ...originalProblems(rules, written),
      ...outcome.problems.map((problem) => moved(problem, ownPath)),
    ],
    spec: { ...outcome.spec, ...governedOf(read) },
    stored: { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", spec: stored },
    meaning: {
      rules,
      inner: outcome.meaning,
      governed: governedOf(read),
      counts: read.watermark?.["counts"] ?? "ready",
    },
  };
};

const misplacedProblems = (rules: Foreign, written: Json): readonly Problem[] =>
  OUTSIDE.filter((name) => (written[name] ?? undefined) !== undefined).map((name) =>
    forbidden(`spec.${rules}.${name}`, "may not be set inside the block", `write spec.${name}`),
  );

/** The first design has one metric, and pauses instead of rates. */
const originalProblems = (rules: Foreign, written: Json): readonly Problem[] =>
  isOriginal(rules, written)
    ? ["metrics", "behavior", "constraints"]
        .filter((name) => (written[name] ?? undefined) !== undefined)
        .map((name) =>
          forbidden(
            `spec.hpa.${name}`,
            "may not be set together with cpuUtilization",
            "keep one of the two",
          ),
        )
    : [];

/** autoscaling/v2 does not have the field, so an empty one is dropped. */
const isNoOriginal = (name: string, value: unknown): boolean =>
  name === "cpuUtilization" && (value ?? undefined) === undefined;

const isOriginal = (rules: Foreign, written: Json | undefined): boolean =>
  rules === "hpa" && (written?.["cpuUtilization"] ?? undefined) !== undefined;

interface ForeignForm extends Form {
  /** The name of the target field in the form. */
  readonly target: "scaleTargetRef" | "scaleRef";
}

const HPA = "HorizontalPodAutoscaler";

const formOf = (rules: Foreign, read: SpecRead): ForeignForm => {
  if (isOriginal(rules, read.hpa))
    return {
      admit: admitHpa(readOriginal),
      apiVersion: "extensions/v1beta1",
      kind: HPA,
      target: "scaleRef",
    };
  if (rules === "hpa")
    return {
      admit: admitHpa(readV2),
      apiVersion: "autoscaling/v2",
      kind: HPA,
      target: "scaleTargetRef",
    };
  const counts = read.watermark?.["counts"] === "current" ? "current" : "ready";
  const form = { apiVersion: "datadoghq.com/v1alpha1", kind: "WatermarkPodAutoscaler" };
  return { admit: admitWatermarkAs({ counts, ...form }), target: "scaleTargetRef", ...form };
};

const pathIn = (rules: Foreign, field: string): string => {
  const [, written = "", rest = ""] = /^spec\.(\w+)(.*)$/s.exec(field) ?? [];
  const name = written === "scaleRef" ? "scaleTargetRef" : written;
  if (name === "") return field;
  return SHARED.some((shared) => shared === name)
    ? `spec.${name}${rest}`
    : `spec.${rules}.${name}${rest}`;
};

const moved = ({ source, ...problem }: Problem, ownPath: (field: string) => string): Problem => ({
  ...problem,
  field: ownPath(source ?? problem.field),
});

/** The object as it reads back: shared fields first, then the block of the foreign form. */
export const storedForeign = (
  rules: Foreign,
  read: Pick<SpecRead, "owner" | "pausedUntil" | "dryRun" | "schedule" | "advice"> & {
    readonly watermark?: SpecRead["watermark"];
  },
  foreign: Json,
): Json => {
  const {
    scaleRef,
    scaleTargetRef = scaleRef,
    minReplicas,
    maxReplicas,
    dryRun,
    ...block
  } = foreign;
  const counts =
    rules === "watermark" && read.watermark?.["counts"] === "current" ? "current" : undefined;
  return present({
    rules,
    owner: read.owner || undefined,
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    dryRun: read.dryRun || dryRun || undefined,
    pausedUntil: read.pausedUntil || undefined,
    schedule: read.schedule && read.schedule.length > 0 ? storedSchedule(read.schedule) : undefined,
    advice: read.advice,
    [rules]: present({ counts, ...block }),
  });
};
