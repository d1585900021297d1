import { type HpaSpec, isStabilized } from "../../model/spec-hpa.ts";
import type { Windows } from "../../model/windows.ts";
import type { Dialect } from "../dialect.ts";
import type { Explanations } from "../explanations.ts";
import { HPA } from "../hpa/dialect.ts";
import { HPA_EXPLANATIONS, hpaWindows } from "../hpa/explanations.ts";
import { branch, resumeFromZero } from "../hpa/steps/branch.ts";
import { combine } from "../hpa/steps/combine.ts";
import { behindBySteps, decideBySteps } from "../hpa/steps/conclude.ts";
import { limit } from "../hpa/steps/limit.ts";
import { readScale, seed, selectPods } from "../hpa/steps/read-scale.ts";
import { stabilize } from "../hpa/steps/stabilize.ts";
import type { HpaStep } from "../hpa/steps/sync.ts";
import { forbiddenStates, type Moment, type WindowStates } from "../shared/window-states.ts";
import { forbid, forbiddenOf, limitStep, thresholdSeries } from "./steps/series.ts";
import { measure } from "./steps/measure.ts";

/** The windows of an HPA, and both forbidden windows (proposals.md §5). */
const multiThresholdWindows = (spec: HpaSpec, windows: Windows, moment: Moment): WindowStates => ({
  ...hpaWindows(spec, windows, moment),
  ...(spec.thresholds && {
    forbidden: forbiddenStates(
      forbiddenOf(spec.thresholds, windows.status.lastScaleMs, moment.nowMs),
    ),
  }),
});

const MULTI_THRESHOLD_EXPLANATIONS: Explanations<HpaSpec> = {
  ...HPA_EXPLANATIONS,
  publishesBands: true,
};

const MULTI_THRESHOLD_STEPS: readonly HpaStep[] = [
  readScale, //      the count as it is
  seed, //           a new list of recommendations begins with it
  branch, //         disabled at zero; outside [min, max] straight to the bound, past all that follows
  selectPods, //     the pods of the target, which no other autoscaler selects
  measure, //        each metric against its target, or its marks: a proposal
  combine, //        the largest proposal; with a failed metric never downwards
  stabilize, //      what the windows of recommendations agree on; not where there are only marks
  limit, //          rate per period, min and max
  limitStep, //      the share of the current count that one step may change
  forbid, //         not so soon after the last scale
  resumeFromZero, // back from zero with at least min
];

/**
 * An HPA with fields of the multi-threshold form beside ordinary targets, `behavior` or
 * `constraints` (docs/manifests.md). Without them, on External metrics, the watermark dialect
 * decides.
 */
export const MULTI_THRESHOLD: Dialect<HpaSpec> = {
  ...HPA,
  keeps: (spec) => ({
    recommendations: isStabilized(spec),
    scaleEvents: spec.behavior !== undefined,
    ownZero: true,
  }),
  decide: (input) => decideBySteps(MULTI_THRESHOLD_STEPS, input, thresholdSeries),
  behind: (input) => behindBySteps(MULTI_THRESHOLD_STEPS, input),
  windows: multiThresholdWindows,
  explains: MULTI_THRESHOLD_EXPLANATIONS,
};
