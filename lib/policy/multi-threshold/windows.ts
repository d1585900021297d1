import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { Windows } from "../../model/windows.ts";
import { hpaWindows } from "../hpa/windows.ts";
import { forbiddenStates, type Moment, type WindowStates } from "../shared/window-states.ts";
import { forbiddenOf } from "./steps/forbid.ts";

/** The windows of an HPA, and both forbidden windows (proposals.md §5). */
export const multiThresholdWindows = (spec: HpaSpec, windows: Windows, moment: Moment): WindowStates => ({
  ...hpaWindows(spec, windows, moment),
  ...(spec.thresholds && { forbidden: forbiddenStates(forbiddenOf(spec.thresholds, windows.status.lastScaleMs, moment.nowMs)) }),
});
