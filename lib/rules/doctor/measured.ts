import type { MetricOutcome } from "../model/decision.ts";
import type { Evaluation } from "../model/scale-records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { askDialect } from "../policy/dialects.ts";

export type MeasuredOutcome = Extract<MetricOutcome, { readonly kind: "measured" }>;

/** The metrics that were measured in an evaluation. */
export const measuredIn = (evaluation: Evaluation | undefined): readonly MeasuredOutcome[] =>
  (evaluation?.metrics ?? []).filter((metric) => metric.kind === "measured");

/** True where the rules leave out pods of others, and pods that have ended. */
export const countsOwnOnly = (spec: AutoscalerSpec): boolean =>
  askDialect(spec, ({ explains }, own) => explains.ownPodsOnly(own));
