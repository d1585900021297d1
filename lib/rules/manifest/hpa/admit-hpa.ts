import { present } from "../../model/json.ts";
import { isDefaultPolicy, pastTheBounds } from "../../policy/shared/never-binds.ts";
import { forbidden, type Problem, type Warning, warnIf } from "../../fields/problem.ts";
import { canonicalOf } from "../../model/quantity.ts";
import {
  type AdmitForm,
  type FormOutcome,
  type StoredForm,
  metadataOf,
  metadataProblems,
} from "../form.ts";
import { behaviorOfConstraints, type ConstraintsBlock, readConstraints } from "./constraints.ts";
import { defaultedBehavior, defaultedSpec } from "./defaults.ts";
import type { DraftSpec, HpaDraft, ReadForm } from "./v2-shape.ts";
import { withoutRoundTrip } from "./read-old.ts";
import { behaviorOf, hpaSpec } from "./spec.ts";
import { amountText, storedOriginalSpec, storedHpaSpec, withQuantityText } from "./stored.ts";
import { readThresholds, type ThresholdsBlock } from "./thresholds.ts";
import { specProblems } from "./validate-spec.ts";

/**
 * Admits one form of HorizontalPodAutoscaler: reads, defaults and validates it, then makes the
 * stored object and the spec (hpa.md 1).
 */
export const admitHpa =
  (readForm: ReadForm): AdmitForm =>
  (document, context, old) => {
    const read = readForm(document, context);
    const metadata = metadataOf({
      ...read.metadata,
      annotations: withoutRoundTrip(read.metadata?.annotations ?? {}),
    });
    const spec = defaultedSpec(read.spec);
    const block = readConstraints(read.constraints, context, {
      least: spec.minReplicas ?? 1,
      most: spec.maxReplicas ?? 0,
    });
    context.warnings.push(...constraintWarnings(block, read));
    const thresholds = readThresholds(read.thresholds, spec.metrics ?? [], spec.minReplicas ?? 1);
    context.warnings.push(...thresholdWarnings(thresholds, read));
    context.warnings.push(...policyWarnings(spec));
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

/** Policies that were written and limit nothing. */
const policyWarnings = ({
  behavior,
  minReplicas = 1,
  maxReplicas,
}: DraftSpec): readonly Warning[] =>
  (["scaleUp", "scaleDown"] as const).flatMap((way) =>
    (behavior?.[way]?.policies ?? []).flatMap(({ type, value = 0, periodSeconds = 0 }, at) => {
      const known = (["Pods", "Percent"] as const).find((one) => one === type);
      if (maxReplicas === undefined || known === undefined) return [];
      const policy = { type: known, value, periodSeconds };
      const why = pastTheBounds(policy, way, { minReplicas, maxReplicas });
      return warnIf(
        why !== undefined && !isDefaultPolicy(policy),
        `spec.behavior.${way}.policies[${at}]`,
        `this policy can never bind: ${why}`,
        "remove it, or write another value",
      );
    }),
  );

/** What the two draft proposals add to an HPA. */
interface Added {
  readonly block: ConstraintsBlock | undefined;
  readonly thresholds: ThresholdsBlock | undefined;
}

/** The stored object and the spec of a complete draft. */
const results = (
  spec: DraftSpec,
  added: Added,
  read: HpaDraft,
): Pick<FormOutcome, "spec" | "stored" | "meaning"> => {
  const { block, thresholds } = added;
  // The original rules have pauses and no rates, so a manifest with rates or windows is decided by
  // the v2 rules.
  const dialect = block || thresholds ? undefined : read.dialect;
  const behavior = block ? behaviorOfConstraints(block.constraints) : behaviorOf(spec.behavior);
  const stored = storedForm(dialect, spec, added);
  return {
    spec: {
      dialect: thresholds ? "multi-threshold" : (dialect ?? "hpa"),
      ...hpaSpec(spec, behavior),
      ...(thresholds && { thresholds: thresholds.thresholds }),
    },
    stored: { ...stored, spec: withQuantityText(stored.spec, canonicalOf) },
    meaning: { ...stored, spec: withQuantityText(stored.spec, amountText) },
  };
};

const constraintWarnings = (
  block: ConstraintsBlock | undefined,
  { dialect }: HpaDraft,
): readonly Warning[] =>
  block ? [...block.warnings, ...(dialect ? [LEAVES_ORIGINAL_RULES] : [])] : [];

const thresholdWarnings = (
  thresholds: ThresholdsBlock | undefined,
  { dialect }: HpaDraft,
): readonly Warning[] =>
  thresholds ? [...thresholds.warnings, ...(dialect ? [THRESHOLDS_LEAVE_ORIGINAL_RULES] : [])] : [];

const THRESHOLDS_LEAVE_ORIGINAL_RULES: Warning = {
  field: "spec",
  message:
    "with fields of the multi-threshold form this is decided by the rules of autoscaling/v2, not by the original ones with their pauses of 3 and 5 minutes",
  fix: "remove them to keep the original rules",
};

const LEAVES_ORIGINAL_RULES: Warning = {
  field: "spec.constraints",
  message:
    "with constraints this is decided by the rules of autoscaling/v2, not by the original ones with their pauses of 3 and 5 minutes",
  fix: "remove constraints to keep the original rules",
};

/** The v2 form cannot express the original rules; every other form reads back as v2. */
const storedForm = (
  dialect: HpaDraft["dialect"],
  spec: DraftSpec,
  { block, thresholds }: Added,
): StoredForm => {
  const kind = "HorizontalPodAutoscaler";
  const constraints = block?.constraints;
  if (dialect === "original")
    return { apiVersion: "extensions/v1beta1", kind, spec: storedOriginalSpec(spec) };
  return {
    apiVersion: "autoscaling/v2",
    kind,
    spec: present({ ...storedHpaSpec(spec), constraints, ...thresholds?.stored }),
  };
};

/** Rates in two places: the meaning cannot be guessed. */
const constraintProblems = (
  block: ConstraintsBlock | undefined,
  read: HpaDraft,
): readonly Problem[] => {
  if (!block) return [];
  if (!read.spec.behavior) return block.problems;
  const detail = "may not be set together with spec.behavior";
  return [
    ...block.problems,
    forbidden(
      "spec.constraints",
      detail,
      "keep one of the two; behavior can express everything that constraints can",
    ),
  ];
};

const withSource = (problem: Problem, { sourceOf }: HpaDraft): Problem => {
  const source = sourceOf(problem.field);
  return source === undefined ? problem : { ...problem, source };
};
