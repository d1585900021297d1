import type { MetricOutcome } from "../model/decision.ts";
import type { Evaluation } from "../model/scale-records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { askDialect } from "../policy/dialects.ts";
import { lineOf } from "./manifest-line.ts";
import type { ManifestChange, Patient } from "./patient.ts";

export type MeasuredOutcome = Extract<MetricOutcome, { readonly kind: "measured" }>;

/** The metrics that were measured in an evaluation. */
export const measuredIn = (evaluation: Evaluation | undefined): readonly MeasuredOutcome[] =>
  (evaluation?.metrics ?? []).filter((metric) => metric.kind === "measured");

/** True where the rules leave out pods of others, and pods that have ended. */
export const countsOwnOnly = (spec: AutoscalerSpec): boolean =>
  askDialect(spec, ({ explains }, own) => explains.ownPodsOnly(own));

/**
 * What to change where other pods than the running ones of the target count: the one word of a
 * PodAutoscaler that asks for it, else what the rules offer.
 */
export const podsChange = (
  { manifest }: Pick<Patient, "manifest">,
  otherwise: ManifestChange,
): ManifestChange => {
  const line = lineOf(manifest, "spec.pods");
  return line.value === undefined
    ? otherwise
    : { ...line, advice: "write owned, so that only pods count that the target owns and that run" };
};
