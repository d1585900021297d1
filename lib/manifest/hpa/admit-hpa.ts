import { canonicalOf } from "../../model/quantity.ts";
import { type AdmitForm, present, type StoredForm } from "../form.ts";
import { metadataOf, metadataProblems } from "../metadata.ts";
import { forbidden, type Problem } from "../problem.ts";
import { behaviorOfConstraints, type ConstraintsReading, readConstraints } from "./constraints.ts";
import { defaultedBehavior, defaultedSpec } from "./defaults.ts";
import { withoutRoundTrip } from "./read-v1.ts";
import type { HpaReading, ReadForm } from "./reading.ts";
import { behaviorOf, hpaSpec } from "./spec.ts";
import { amountText, printed, storedOriginalSpec, storedSpec } from "./stored.ts";
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
    reading.warnings.push(...(block?.warnings ?? []));
    const behavior = defaultedBehavior(spec.behavior);
    const checked = read.behaviorDefaultedLate ? spec : { ...spec, behavior };
    const problems = [
      ...metadataProblems(metadata, old?.metadata),
      ...specProblems(checked, old?.spec.target),
      ...(read.formProblems ?? []),
      ...constraintProblems(block, read),
    ];
    const complete = { ...spec, behavior };
    const stored = storedForm(read, complete, block);
    return {
      metadata,
      problems: problems.map((problem) => withSource(problem, read)),
      spec: {
        ...hpaSpec(complete, block ? behaviorOfConstraints(block.constraints) : behaviorOf(behavior)),
        ...(read.rules && { rules: read.rules }),
      },
      stored: { ...stored, spec: printed(stored.spec, canonicalOf) },
      meaning: { ...stored, spec: printed(stored.spec, amountText) },
    };
  };

/** The original rules would be lost in the shape of v2; every other form reads back as v2. */
const storedForm = (read: HpaReading, spec: DraftSpec, block: ConstraintsReading | undefined): StoredForm => {
  const kind = "HorizontalPodAutoscaler";
  const constraints = block?.constraints;
  if (read.rules === "original") return { apiVersion: "extensions/v1beta1", kind, spec: present({ ...storedOriginalSpec(spec), constraints }) };
  return { apiVersion: "autoscaling/v2", kind, spec: present({ ...storedSpec(spec), constraints }) };
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
