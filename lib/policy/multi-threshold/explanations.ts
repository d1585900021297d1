import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { Explanations } from "../explanations.ts";
import { HPA_EXPLANATIONS } from "../hpa/explanations.ts";
import { toleranceOf } from "../shared/metrics/tolerance.ts";

const WIDENED = { kind: "watermarks", widened: true, converges: false, ignoresZero: false, needsEverySample: true } as const;

export const MULTI_THRESHOLD_EXPLANATIONS: Explanations<HpaSpec> = {
  ...HPA_EXPLANATIONS,
  publishesBands: true,
  // A metric may have a target beside others that have watermarks.
  band: (spec, metric, settings) =>
    metric.target.includes("..") ? { ...WIDENED, ...toleranceOf(spec, settings) } : HPA_EXPLANATIONS.band(spec, metric, settings),
};
