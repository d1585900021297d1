import type { Because, Decision, GaugeWrite } from "../../../model/decision.ts";
import type { Windows } from "../../../model/windows.ts";
import { MAX_I64 } from "../../../model/quantity-parse.ts";
import { isMended } from "../../../model/spec-common.ts";
import type { Measured } from "../../shared/metrics/measurement.ts";
import type { SeenBehind } from "../../shared/metrics/details.ts";
import { reasonOf } from "../../shared/scale-sentence.ts";
import { runSteps } from "../../shared/steps.ts";
import { type HpaInput, type HpaStep, type HpaSync, started } from "./sync.ts";

/** Runs the steps, and says what follows. `series`: what the rules publish of a sync. */
export const decideBySteps = (
  steps: readonly HpaStep[],
  input: HpaInput,
  series?: (sync: HpaSync) => readonly GaugeWrite[] | undefined,
): Decision => {
  const sync = runSteps(steps, started(input));
  return conclude(sync, series?.(sync));
};

/** What the same steps see behind their metrics. */
export const behindBySteps = (steps: readonly HpaStep[], input: HpaInput): SeenBehind => {
  const { measurements, pods } = runSteps(steps, started(input));
  return {
    metrics: measurements.map((measurement) =>
      measurement.kind === "measured" ? measurement : undefined,
    ),
    ...(input.observation.podsUnread ? {} : { pods }),
  };
};

/**
 * hpa.md 2.4 steps 5 to 7: the decision, with what to store if nothing is written. Nothing is
 * published of a sync whose scale could not be read.
 */
const conclude = (sync: HpaSync, gauges: readonly GaugeWrite[] | undefined): Decision => {
  const { current, count, metrics, steps, events, trigger, ending } = sync;
  if (ending?.kind === "unreadable") {
    const windows: Windows = {
      ...sync.input.windows,
      status: { ...sync.input.windows.status, conditions: sync.conditions },
    };
    return { kind: "hold", failed: true, because: ending.because, metrics, steps, events, windows };
  }
  const decided = { from: current, metrics, steps, events, ...(gauges && { gauges }) };
  if (ending?.kind === "failed")
    return {
      kind: "hold",
      failed: true,
      because: ending.because,
      ...decided,
      windows: windowsOf(sync, {}),
    };
  const because = ending?.because ?? withArithmetic(reasonOf(sync, metrics, REASONS), sync);
  if (count === current)
    return {
      kind: "hold",
      failed: false,
      because,
      ...decided,
      windows: windowsOf(sync, { desiredReplicas: current }),
    };
  return { kind: "scale", to: count, trigger, because, ...decided, windows: windowsOf(sync, {}) };
};

/**
 * Says of a count that its value is no reason for where it comes from: "load 9455m of 10 asks for
 * 11", "load 30 of 60 asks for 5" of one pod, "load 30M of 100m asks for -2147483648".
 */
const withArithmetic = (because: Because, sync: HpaSync): Because => {
  const { current, count, steps, measurements } = sync;
  if (count === current) return because;
  const wanted = steps.find(({ step }) => step === "propose")?.after;
  const measured = measurements.filter((one) => one.kind === "measured");
  // A negative proposal never leads: together with none it is 0.
  const decides = measured.find(({ proposal }) => proposal === wanted) ?? measured[0];
  const words = decides && arithmeticOf(decides, sync);
  return words === undefined ? because : { ...because, message: `${because.message}; ${words}` };
};

const arithmeticOf = (
  { inside, overflowed, proposal, ratio, usageMilli }: Measured,
  { current, statusReplicas, input: { settings } }: HpaSync,
): string | undefined => {
  // hpa.md 3.7.
  if (inside)
    return statusReplicas === current
      ? undefined
      : `within its tolerance an average takes the ${statusReplicas} pods of the status for the count, and the scale asks for ${current}`;
  const isCut = overflowed && usageMilli !== MAX_I64;
  if (!isMended(settings) && (isCut || (proposal < 0 && ratio > 1)))
    return "Kubernetes 1.37 wraps what is beyond 64 bits in a sum and beyond 32 bits in a count, and 1.38 does not";
  // hpa.md 3.3 and 3.6.
  return (ratio < 1 && proposal > current) || (ratio > 1 && proposal < current)
    ? `value ÷ target is multiplied by the pods that are ready, and not by the count of ${current}`
    : undefined;
};

/** desiredReplicas keeps its value until a write has succeeded (hpa.md 2.9). */
const windowsOf = (
  { input, conditions, recommendations, selectorText, current, currentMetrics }: HpaSync,
  desired: { desiredReplicas?: number },
): Windows => ({
  memory: {
    ...input.windows.memory,
    recommendations,
    ...(selectorText === undefined ? {} : { selector: selectorText }),
  },
  status: {
    ...input.windows.status,
    conditions,
    currentReplicas: current,
    currentMetrics,
    ...desired,
  },
});

const REASONS = {
  down: "AllMetricsBelowTarget",
  inside: { reason: "DesiredWithinRange", message: "recommended size matches current size" },
};
