import type { Decision, MetricOutcome } from "../../../model/decision.ts";
import type { Windows } from "../../../model/windows.ts";
import { reasonOf } from "../../shared/scale-sentence.ts";
import type { CountReading } from "../metrics/measure.ts";
import type { NativeSync } from "./sync.ts";

/** The decision, with what to store if nothing is written. */
export const conclude = (sync: NativeSync): Decision => {
  const { current, count, steps, events, trigger, ending } = sync;
  const metrics = sync.readings.map(outcomeOf);
  if (ending?.kind === "unreadable") {
    const { windows } = sync.input;
    const stored: Windows = {
      ...windows,
      status: { ...windows.status, conditions: sync.conditions },
    };
    return {
      kind: "hold",
      failed: true,
      because: ending.because,
      metrics,
      steps,
      events,
      windows: stored,
    };
  }
  const decided = { from: current, metrics, steps, events };
  const held = {
    kind: "hold",
    ...decided,
    windows: windowsOf(sync, { desiredReplicas: current }),
  } as const;
  if (ending?.kind === "failed") return { ...held, failed: true, because: ending.because };
  const because = ending?.kind === "settled" ? ending.because : reasonOf(sync, metrics, REASONS);
  if (count === current) return { ...held, failed: false, because };
  return { kind: "scale", to: count, trigger, because, ...decided, windows: windowsOf(sync, {}) };
};

const windowsOf = (sync: NativeSync, desired: { readonly desiredReplicas?: number }): Windows => {
  const { input, conditions, recommendations, selectorText, current, readings } = sync;
  const { answers: _before, ...memory } = input.windows.memory;
  const { kept } = sync.known;
  const currentMetrics =
    readings.length === 0
      ? null
      : readings.map((reading) =>
          reading.kind === "measured" ? reading.measured.status : { type: "" },
        );
  return {
    memory: {
      ...memory,
      recommendations,
      ...(selectorText === undefined ? {} : { selector: selectorText }),
      ...(kept.length > 0 && { answers: kept }),
    },
    status: {
      ...input.windows.status,
      conditions,
      currentReplicas: current,
      currentMetrics,
      ...desired,
    },
  };
};

const outcomeOf = (reading: CountReading): MetricOutcome => {
  const { name, source } = reading.metric;
  const { type } = source;
  const inputs = reading.inputs && { inputs: reading.inputs };
  if (reading.kind === "missing")
    return {
      name,
      type,
      kind: "failed",
      reason: reading.reason,
      message: reading.message,
      ...inputs,
    };
  const { measured, target, proposal } = reading;
  const shown = {
    name,
    type,
    kind: "measured",
    value: measured.value,
    target,
    proposal,
    ...inputs,
  } as const;
  // Two marks have no one ratio.
  return reading.metric.band.kind === "target" && Number.isFinite(measured.ratio)
    ? { ...shown, ratio: measured.ratio }
    : shown;
};

const REASONS = {
  down: "MetricsBelowTarget",
  inside: { reason: "WithinTarget", message: "no metric asks for another count" },
};
