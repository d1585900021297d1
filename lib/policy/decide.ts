import type { Decision } from "../model/decision.ts";
import type { AutoscalerName, Namespace } from "../model/ids.ts";
import type { Observation } from "../model/observation.ts";
import type { ControllerSettings } from "../model/settings.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { isStabilized } from "../model/spec-hpa.ts";
import type { Windows } from "../model/windows.ts";
import { HPA_STEPS } from "./dialects/hpa.ts";
import { MULTI_THRESHOLD_STEPS } from "./dialects/multi-threshold.ts";
import { ORIGINAL_STEPS } from "./dialects/original.ts";
import { decideNative } from "./dialects/tidemark.ts";
import { decideWatermark } from "./dialects/watermark.ts";
import { runSteps } from "./steps/hpa/run.ts";
import type { HpaInput } from "./steps/hpa/sync.ts";
import { override } from "./steps/tidemark/override.ts";
import { withoutTimed } from "./steps/tidemark/sentences.ts";

/** Everything that a decision depends on; equal inputs give equal decisions. */
export interface DecideInput {
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly spec: AutoscalerSpec;
  readonly settings: ControllerSettings;
  readonly observation: Observation;
  readonly windows: Windows;
  readonly nowMs: number;
}

/** What to do with one workload now, and why. Pure; a metric that is missing or absurd is a reason to hold inside the decision, never an exception. */
export const decide = (input: DecideInput): Decision => override(decideByRules(input), input.spec, input.nowMs);

const decideByRules = (input: DecideInput): Decision => {
  const { spec } = input;
  const windows = withoutTimed(input.windows);
  switch (spec.dialect) {
    case "hpa":
      return decideHpa({ ...input, spec, windows });
    case "watermark":
      return withoutRecommendations(decideWatermark({ ...input, spec, windows }));
    case "tidemark":
      return decideNative({ ...input, spec });
  }
};

const decideHpa = (input: HpaInput): Decision => {
  const { spec } = input;
  if (spec.rules === "original") return withoutRecommendations(runSteps(ORIGINAL_STEPS, input));
  if (!spec.thresholds) return runSteps(HPA_STEPS, input);
  const decision = runSteps(MULTI_THRESHOLD_STEPS, input);
  return isStabilized(spec) ? decision : withoutRecommendations(decision);
};

/** Rules that record none leave none behind: after them a stabilization begins with the current count, where old ones would let the count fall at once. */
const withoutRecommendations = (decision: Decision): Decision => {
  const { windows } = decision;
  return windows.memory.recommendations === null
    ? decision
    : { ...decision, windows: { ...windows, memory: { ...windows.memory, recommendations: null } } };
};
