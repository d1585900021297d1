import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { Windows } from "../../model/windows.ts";
import type { Dialect } from "../dialect.ts";
import { HPA } from "../hpa/dialect.ts";
import { branch } from "../hpa/steps/branch.ts";
import { combine } from "../hpa/steps/combine.ts";
import { behindBySteps, decideBySteps } from "../hpa/steps/conclude.ts";
import { readScale, selectPods } from "../hpa/steps/read-scale.ts";
import type { HpaStep } from "../hpa/steps/sync.ts";
import { forbiddenStates, type Moment, type WindowStates } from "../shared/window-states.ts";
import { bounds, coolDown, forbiddenOf, measureUtilization } from "./steps.ts";

/** Nothing but the time after the last scale (proposals.md §1). */
const originalWindows = (_spec: HpaSpec, { status }: Windows, { nowMs }: Moment): WindowStates => ({
  recommendations: [],
  stabilization: [],
  rates: [],
  forbidden: forbiddenStates(forbiddenOf(status.lastScaleMs, nowMs)),
});

const ORIGINAL_STEPS: readonly HpaStep[] = [
  readScale, //          the count as it is
  branch, //             disabled at zero; outside [min, max] straight to the bound
  selectPods, //         the pods of the target, which no other autoscaler selects
  measureUtilization, // Σ of each pod's own utilisation ÷ target; nothing inside the band
  combine, //            the proposal; without the metric the count stays
  bounds, //             min and max
  coolDown, //           up 3 and down 5 minutes after the last scale at the earliest
];

/**
 * The rules of the first design, for extensions/v1beta1 objects (proposals.md §1). No manifest has
 * `behavior` beside them. The last scale is all that they look back on, so they keep neither
 * recommendations nor scale events.
 */
export const ORIGINAL: Dialect<HpaSpec> = {
  ...HPA,
  name: "the first design",
  keeps: () => ({ recommendations: false, scaleEvents: false, ownZero: true }),
  decide: (input) => decideBySteps(ORIGINAL_STEPS, input),
  behind: (input) => behindBySteps(ORIGINAL_STEPS, input),
  windows: originalWindows,
};
