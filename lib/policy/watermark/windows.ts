import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Windows } from "../../model/windows.ts";
import { lastingOf } from "../shared/timers.ts";
import { forbiddenStates, type Moment, timerState, type WindowStates } from "../shared/window-states.ts";
import { ABOVE, BELOW, forbiddenOf } from "./steps/gates.ts";

/** Both forbidden windows, and the breaches that must last (watermark.md 2.9). */
export const watermarkWindows = (spec: WatermarkSpec, { status }: Windows, { nowMs }: Moment): WindowStates => {
  const { upscaleDelayAboveWatermarkSeconds: up, downscaleDelayBelowWatermarkSeconds: down } = spec;
  return {
    recommendations: [],
    stabilization: [],
    rates: [],
    forbidden: forbiddenStates(forbiddenOf(spec, status.lastScaleMs, nowMs)),
    timers: [
      ...timerState("Scale up delay", up, lastingOf(status.conditions, ABOVE, up)),
      ...timerState("Scale down delay", down, lastingOf(status.conditions, BELOW, down)),
    ],
  };
};
