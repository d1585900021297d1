import { branch } from "../steps/hpa/branch.ts";
import { combine } from "../steps/hpa/combine.ts";
import { forbid } from "../steps/hpa/forbid.ts";
import { limit } from "../steps/hpa/limit.ts";
import { limitStep } from "../steps/hpa/limit-step.ts";
import { measure } from "../steps/hpa/measure.ts";
import { readScale, seed } from "../steps/hpa/read-scale.ts";
import { resumeFromZero } from "../steps/hpa/resume.ts";
import { selectPods } from "../steps/hpa/select-pods.ts";
import { stabilize } from "../steps/hpa/stabilize.ts";
import type { HpaStep } from "../steps/hpa/sync.ts";

/**
 * One sync of an HPA with fields of the multi-threshold form beside ordinary targets, `behavior` or `constraints` (docs/manifests.md). Without them, on External metrics, it is
 * the watermark dialect that decides.
 */
export const MULTI_THRESHOLD_STEPS: readonly HpaStep[] = [
  readScale, //      the count as it is
  seed, //           a new list of recommendations begins with it
  branch, //         disabled at zero; outside [min, max] straight to the bound, past all that follows
  selectPods, //     the pods of the target, which no other autoscaler selects
  measure, //        each metric against its target, or its marks: a proposal
  combine, //        the largest proposal; with a failed metric never downwards
  stabilize, //      what the windows of recommendations agree on; not for marks alone
  limit, //          rate per period, min and max
  limitStep, //      the share of the current count that one step may change
  forbid, //         not so soon after the last scale
  resumeFromZero, // back from zero with at least min
];
