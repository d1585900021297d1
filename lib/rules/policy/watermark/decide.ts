import type { Decision } from "../../model/decision.ts";
import { runSteps } from "../shared/steps.ts";
import { checkSpec, readScale, reportScale } from "./steps/read-scale.ts";
import { chooseCount, propose } from "./steps/propose.ts";
import { conclude } from "./steps/conclude.ts";
import { askMonitor } from "./steps/lifecycle.ts";
import { passGates } from "./steps/pass-gates.ts";
import {
  started,
  type WatermarkInput,
  type WatermarkStep,
  type WatermarkSync,
} from "./steps/sync.ts";
import { velocity } from "./steps/velocity.ts";

/** The inner half, for a scale that was read (watermark.md 2.10). */
const INNER_STEPS: readonly WatermarkStep[] = [
  reportScale, // 2.3  conditions and series of the scale and its bounds
  propose, //     2.7  all metrics, or the recommender; the first failure ends the sync
  velocity, //    2.8  how far one step may go, min and max
  passGates, //   2.9  forbidden windows, and breaches that must last
  chooseCount, // 2.10 zero and [min, max] have the last word
];

/**
 * One sync of the watermark controller, from top to bottom; numbers are sections of watermark.md.
 */
const STEPS: readonly WatermarkStep[] = [
  checkSpec, //   1.3  an invalid spec is never acted upon
  askMonitor, //  2.2  a monitor that is not OK stops everything
  readScale, //   2.2  the count as it is
  ...INNER_STEPS,
];

export const decideWatermark = (input: WatermarkInput): Decision =>
  conclude(runSteps(STEPS, started(input)));

/** Only the inner half, for the recorded decisions of the original's inner function. */
export const decideInner = (sync: WatermarkSync): Decision => conclude(runSteps(INNER_STEPS, sync));
