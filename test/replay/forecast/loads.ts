import { FORECAST_STEP_MS } from "../../../lib/rules/model/forecast.ts";
import type { PastDemand } from "../../../lib/replay/forecast/demand.ts";
import { DAY_STEPS } from "../../../lib/replay/forecast/methods.ts";

/** A demand of so many days, by the step. */
export const demandBy = (
  days: number,
  valueAt: (step: number) => number,
  isCutOff: (step: number) => boolean = () => false,
): PastDemand => {
  const values = Float64Array.from({ length: days * DAY_STEPS }, (_, step) => valueAt(step));
  return {
    values,
    cutOff: Uint8Array.from(values, (_, step) => (isCutOff(step) ? 1 : 0)),
    untilMs: values.length * FORECAST_STEP_MS,
  };
};

/** A day that rises from 20 to 180 and falls again. */
export const wave = (step: number): number =>
  100 - 80 * Math.cos((2 * Math.PI * (step % DAY_STEPS)) / DAY_STEPS);

/** The same numbers in every run, from 0 to 1. */
export const noise = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
};
