import type { Decision } from "../../model/decision.ts";
import { runSteps } from "../shared/steps.ts";
import { bounds } from "./steps/bounds.ts";
import { clamp } from "./steps/clamp.ts";
import { combine } from "./steps/combine.ts";
import { conclude } from "./steps/conclude.ts";
import { coolDown } from "./steps/cool-down.ts";
import { flap } from "./steps/flap.ts";
import { idle } from "./steps/idle.ts";
import { limit } from "./steps/limit.ts";
import { measure } from "./steps/measure.ts";
import { readScale } from "./steps/read-scale.ts";
import { round } from "./steps/round.ts";
import { selectPods } from "./steps/select-pods.ts";
import { stabilize } from "./steps/stabilize.ts";
import { sustain, unseen } from "./steps/sustain.ts";
import { type NativeInput, type NativeStep, started } from "./steps/sync.ts";

/** What there is: the scale, its bounds, the metrics, and whether the workload is in use at all. */
const SEE: readonly NativeStep[] = [
  readScale, //  the count as it is
  bounds, //     outside [min, max] straight to the bound
  selectPods, // the pods of the target, which no other autoscaler selects
  measure, //    each metric: value, target or watermarks, proposal
  idle, //       out of use to the idle count, in use again to min
];

/** What the metrics want, and how much of it at once; left out for a workload that goes to rest. */
const SHAPE: readonly NativeStep[] = [
  combine, //   Max, Min or Mean of the proposals
  sustain, //   a breach must last
  stabilize, // a window per direction
  round, //     step minimum and modulo
  limit, //     policies per period
  clamp, //     min and max
];

/** Not yet: after any scale, and after too many turns. */
const WAIT: readonly NativeStep[] = [coolDown, flap];

/** One sync of `rules: native`, from top to bottom (docs/pod-autoscaler.md); overrides follow in decide.ts, for every dialect. */
export const decideNative = (input: NativeInput): Decision => {
  const seen = runSteps(SEE, started(input));
  const shaped = seen.resting ? seen : runSteps(SHAPE, seen);
  const waited = runSteps(WAIT, shaped);
  return conclude(shaped.resting || shaped.ending ? unseen(waited) : waited);
};
