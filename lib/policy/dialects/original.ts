import { branch } from "../steps/hpa/branch.ts";
import { combine } from "../steps/hpa/combine.ts";
import { readScale } from "../steps/hpa/read-scale.ts";
import { selectPods } from "../steps/hpa/select-pods.ts";
import type { HpaStep } from "../steps/hpa/sync.ts";
import { bounds } from "../steps/original/bounds.ts";
import { coolDown } from "../steps/original/cool-down.ts";
import { measureUtilization } from "../steps/original/measure.ts";

/** One sync by the rules of the first design, for extensions/v1beta1 objects (proposals.md §1). It keeps no recommendations: the last scale is all it looks back on. */
export const ORIGINAL_STEPS: readonly HpaStep[] = [
  readScale, //          the count as it is
  branch, //             disabled at zero; outside [min, max] straight to the bound
  selectPods, //         the pods of the target, which no other autoscaler selects
  measureUtilization, // Σ of each pod's own utilisation ÷ target; nothing inside the band
  combine, //            the proposal; without the metric the count stays
  bounds, //             min and max
  coolDown, //           up 3 and down 5 minutes after the last scale at the earliest
];
