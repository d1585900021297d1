import { canonicalOf } from "../../model/quantity.ts";
import type { AdmitForm, FormOutcome, StoredForm } from "../form.ts";
import { present } from "../json.ts";
import { metadataOf, metadataProblems } from "../metadata.ts";
import { forbidden, type Problem, type Warning } from "../problem.ts";
import { behaviorOfConstraints, type ConstraintsReading, readConstraints } from "./constraints.ts";
import { defaultedBehavior, defaultedSpec } from "./defaults.ts";
import { withoutRoundTrip } from "./read-v1.ts";
import type { HpaReading, ReadForm } from "./reading.ts";
import { behaviorOf, hpaSpec } from "./spec.ts";
import { amountText, printed, storedOriginalSpec, storedSpec } from "./stored.ts";
import { readThresholds, type ThresholdsReading } from "./thresholds.ts";
import type { DraftSpec } from "./v2-shape.ts";
import { specProblems } from "./validate.ts";

/** Admits one form of HorizontalPodAutoscaler: read, default, validate; then what is stored, and what is decided by (hpa.md 1). */
export const admitHpa =
  (readForm: ReadForm): AdmitForm =>
  (document, reading, old) => {
    const read = readForm(document, reading);
    const metadata = metadataOf({ ...read.metadata, annotations: withoutRoundTrip(read.metadata?.annotations ?? {}) });
    const spec = defaultedSpec(read.spec);
    const block = readConstraints(read.constraints, reading, { least: spec.minReplicas ?? 1, most: spec.maxReplicas ?? 0 });
    reading.warnings.push(...constraintWarnings(block, read));
    const thresholds = readThresholds(read.thresholds, spec.metrics ?? [], spec.minReplicas ?? 1);
    reading.warnings.push(...thresholdWarnings(thresholds, read));
    const behavior = defaultedBehavior(spec.behavior);
    const problems = [
      ...metadataProblems(metadata, old?.metadata),
      ...specProblems(read.behaviorDefaultedLate ? spec : { ...spec, behavior }, old?.spec.target),
      ...(read.formProblems ?? []),
      ...constraintProblems(block, read),
      ...(thresholds?.problems ?? []),
    ];
    return {
      metadata,
      problems: problems.map((problem) => withSource(problem, read)),
      ...results({ ...spec, behavior }, { block, thresholds }, read),
    };
  };

/** What the two proposals add to an HPA. */
interface Added {
  readonly block: ConstraintsReading | undefined;
  readonly thresholds: ThresholdsReading | undefined;
}

/** What is kept of a complete spec. */
const results = (spec: DraftSpec, added: Added, read: HpaReading): Pick<FormOutcome, "spec" | "stored" | "meaning"> => {
  const { block, thresholds } = added;
  // The original rules know a pause after each scale and no rates: a manifest that names rates, or windows, is decided by the rules that keep them.
  const rules = block || thresholds ? undefined : read.rules;
  const behavior = block ? behaviorOfConstraints(block.constraints) : behaviorOf(spec.behavior);
  const stored = storedForm(rules, spec, added);
  return {
    spec: { ...hpaSpec(spec, behavior), ...(rules && { rules }), ...(thresholds && { thresholds: thresholds.thresholds }) },
    stored: { ...stored, spec: printed(stored.spec, canonicalOf) },
    meaning: { ...stored, spec: printed(stored.spec, amountText) },
  };
};

const constraintWarnings = (block: ConstraintsReading | undefined, { rules }: HpaReading): readonly Warning[] =>
  block ? [...block.warnings, ...(rules ? [LEAVES_ORIGINAL_RULES] : [])] : [];

const thresholdWarnings = (thresholds: ThresholdsReading | undefined, { rules }: HpaReading): readonly Warning[] =>
  thresholds ? [...thresholds.warnings, ...(rules ? [THRESHOLDS_LEAVE_ORIGINAL_RULES] : [])] : [];

const THRESHOLDS_LEAVE_ORIGINAL_RULES: Warning = {
  field: "spec",
  message:
    "with fields of the multi-threshold form this is decided by the rules of autoscaling/v2, not by the original ones with their pauses of 3 and 5 minutes",
  fix: "remove them to keep the original rules",
};

const LEAVES_ORIGINAL_RULES: Warning = {
  field: "spec.constraints",
  message: "with constraints this is decided by the rules of autoscaling/v2, not by the original ones with their pauses of 3 and 5 minutes",
  fix: "remove constraints to keep the original rules",
};

/** The original rules would be lost in the shape of v2; every other form reads back as v2. */
const storedForm = (rules: HpaReading["rules"], spec: DraftSpec, { block, thresholds }: Added): StoredForm => {
  const kind = "HorizontalPodAutoscaler";
  const constraints = block?.constraints;
  if (rules === "original") return { apiVersion: "extensions/v1beta1", kind, spec: storedOriginalSpec(spec) };
  return { apiVersion: "autoscaling/v2", kind, spec: present({ ...storedSpec(spec), constraints, ...thresholds?.stored }) };
};

/** Two places that say how fast: which one is meant cannot be guessed. */
const constraintProblems = (block: ConstraintsReading | undefined, read: HpaReading): readonly Problem[] => {
  if (!block) return [];
  if (!read.spec.behavior) return block.problems;
  const detail = "may not be set together with spec.behavior";
  return [...block.problems, forbidden("spec.constraints", detail, "keep one of the two; behavior says everything that constraints can say")];
};

const withSource = (problem: Problem, { sourceOf }: HpaReading): Problem => {
  const source = sourceOf(problem.field);
  return source === undefined ? problem : { ...problem, source };
};
