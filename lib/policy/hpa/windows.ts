import type { ControllerSettings } from "../../model/settings.ts";
import { type HpaSpec, isStabilized } from "../../model/spec-hpa.ts";
import type { Windows } from "../../model/windows.ts";
import type { StabilizationWindows } from "../shared/stabilization.ts";
import { type Moment, rateStates, stabilizationStates, type WindowStates } from "../shared/window-states.ts";
import { stabilized, windowsOf } from "./steps/stabilize.ts";

/** hpa.md 2.6, 3.8 and 3.9: windows of recommendations, and what counts for each policy. */
export const hpaWindows = (spec: HpaSpec, { memory }: Windows, { settings, nowMs, count }: Moment): WindowStates => ({
  recommendations: memory.recommendations ?? [],
  stabilization: stabilizationStates(
    lengthsOf(spec, settings),
    memory,
    count,
    (runs, counts) => stabilized(spec, runs, counts, { settings, nowMs }).held,
  ),
  rates: [...rateStates("scaleUp", spec.behavior?.scaleUp, memory, nowMs), ...rateStates("scaleDown", spec.behavior?.scaleDown, memory, nowMs)],
});

/** Without behavior only the way down is stabilized, over the cluster's own window (hpa.md 2.6.1). */
const lengthsOf = (spec: HpaSpec, settings: ControllerSettings): Partial<StabilizationWindows> => {
  if (!isStabilized(spec)) return {};
  return spec.behavior ? windowsOf(spec.behavior, settings) : { downMs: settings.downscaleStabilizationMs };
};
