import type { MetricOutcome } from "../model/decision.ts";
import type { Evaluation } from "../model/scale-records.ts";

export type MeasuredOutcome = Extract<MetricOutcome, { readonly kind: "measured" }>;

/** The metrics that were measured in an evaluation. */
export const measuredIn = (evaluation: Evaluation | undefined): readonly MeasuredOutcome[] =>
  (evaluation?.metrics ?? []).filter((metric) => metric.kind === "measured");
