import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { Dialect } from "../dialect.ts";
import { hpaLevels } from "../shared/levels.ts";
import { hpaQuestions } from "../shared/questions.ts";
import { HPA_EXPLANATIONS, hpaWindows } from "./explanations.ts";
import { afterHpaWrite, withHpaScale, withOutsideHpaChange } from "./steps/after-write.ts";
import { branch, resumeFromZero } from "./steps/branch.ts";
import { combine } from "./steps/combine.ts";
import { behindBySteps, decideBySteps } from "./steps/conclude.ts";
import { limit } from "./steps/limit.ts";
import { measure } from "./steps/measure.ts";
import { readScale, seed, selectPods } from "./steps/read-scale.ts";
import { stabilize } from "./steps/stabilize.ts";
import type { HpaStep } from "./steps/sync.ts";

/**
 * One sync of kube-controller-manager v1.37, from top to bottom; numbers are sections of hpa.md.
 */
const HPA_STEPS: readonly HpaStep[] = [
  readScale, //      2.4 step 1    the count as it is
  seed, //           2.4 step 3    a new list of recommendations begins with it
  branch, //         2.4 step 4    disabled at zero; outside [min, max] straight to the bound
  selectPods, //     2.5 steps 1-3 the pods of the target, which no other autoscaler selects
  measure, //        2.5 step 4    each metric: value, ratio, proposal (3.1 to 3.7)
  combine, //        2.5 step 5    the largest proposal; with a failed metric never downwards
  stabilize, //      3.8.1, 3.8.3  what the windows of recommendations agree on
  limit, //          3.8.2, 3.8.4  rate per period, min and max
  resumeFromZero, // 2.4 step 5    back from zero with at least min
];

/** `autoscaling/v2` and every form that converts to it (hpa.md). */
export const HPA: Dialect<HpaSpec> = {
  name: "hpa",
  keeps: ({ behavior }) => ({
    recommendations: true,
    scaleEvents: behavior !== undefined,
    ownZero: true,
  }),
  repeatsHolds: () => true,
  levels: hpaLevels,
  questions: ({ metrics }, namespace, scale) => hpaQuestions(metrics, namespace, scale),
  asksMonitor: () => false,
  recommenderQuestion: () => undefined,
  decide: (input) => decideBySteps(HPA_STEPS, input),
  behind: (input) => behindBySteps(HPA_STEPS, input),
  afterWrite: afterHpaWrite,
  withScale: withHpaScale,
  withOutsideChange: withOutsideHpaChange,
  // The controller writes the same count again, whatever the count is by now (hpa.md 2.4 step 6).
  whyNotAgain: () => undefined,
  windows: hpaWindows,
  explains: HPA_EXPLANATIONS,
};
