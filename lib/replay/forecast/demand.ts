import { FORECAST_HISTORY_MS, FORECAST_STEP_MS } from "../../rules/model/forecast.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { type Series, StepReader } from "../series.ts";

/** The demand of a metric, step by step, up to `untilMs`. */
export interface PastDemand {
  /** One for each step; NaN where less than half of the step is known. */
  readonly values: Float64Array;
  /** 1 where what was measured is a lower bound: it is learned from, and no forecast is judged by it. */
  readonly cutOff: Uint8Array;
  readonly untilMs: number;
}

/** Of a step so much must be known. */
const KNOWN_LEAST = 0.5;

/** The mean demand of each step. Steps begin at whole multiples of their length. */
export const demandOf = (load: Series, untilMs: number, cutOff?: Series): PastDemand => {
  const endMs = Math.floor(untilMs / FORECAST_STEP_MS) * FORECAST_STEP_MS;
  const beganMs = Math.max(load.times[0] ?? endMs, endMs - FORECAST_HISTORY_MS);
  const firstMs = Math.floor(beganMs / FORECAST_STEP_MS) * FORECAST_STEP_MS;
  const steps = Math.max(0, (endMs - firstMs) / FORECAST_STEP_MS);
  const values = new Float64Array(steps);
  const cut = new Uint8Array(steps);
  const readers = [new StepReader(load), ...(cutOff ? [new StepReader(cutOff)] : [])] as const;
  for (let step = 0; step < steps; step++) {
    const fromMs = firstMs + step * FORECAST_STEP_MS;
    const { sum, knownMs, isCut } = passed(readers, fromMs, fromMs + FORECAST_STEP_MS);
    values[step] = knownMs < KNOWN_LEAST * FORECAST_STEP_MS ? Number.NaN : sum / knownMs;
    cut[step] = isCut ? 1 : 0;
  }
  return { values, cutOff: cut, untilMs: endMs };
};

const passed = (
  [load, cutOff]: readonly [StepReader, ...StepReader[]],
  fromMs: number,
  untilMs: number,
) => {
  let [sum, knownMs, isCut] = [0, 0, false];
  for (let atMs = fromMs; atMs < untilMs; ) {
    const value = load.seek(atMs);
    isCut ||= cutOff?.seek(atMs) === 1;
    // Before its first time a series is unknown, and says nothing of how long that lasts.
    const holdsMs = load.untilMs > atMs ? load.untilMs : atMs + MINUTE_MS;
    const nextMs = Math.min(
      untilMs,
      holdsMs,
      cutOff && cutOff.untilMs > atMs ? cutOff.untilMs : untilMs,
    );
    if (!Number.isNaN(value)) {
      sum += value * (nextMs - atMs);
      knownMs += nextMs - atMs;
    }
    atMs = nextMs;
  }
  return { sum, knownMs, isCut };
};
