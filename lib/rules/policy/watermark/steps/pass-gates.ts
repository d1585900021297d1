import type { Limit } from "../../../model/decision.ts";
import { explained } from "../../shared/steps.ts";
import { type Gate, shouldScale } from "./gates.ts";
import { condition, gateSentence, scalingDisabled } from "./sentences.ts";
import { noted, type WatermarkStep } from "./sync.ts";

/** Whether the count may change now. */
export const passGates: WatermarkStep = (sync) => {
  const { normalised, combined, conditions, input } = sync;
  const { windows, spec, nowMs } = input;
  const current = sync.scale.specReplicas;
  const clock = { decisionMs: nowMs, wallMs: nowMs };
  const { gate, notes } = shouldScale(
    { current, wanted: normalised, stable: combined.stable },
    { lastScaleMs: windows.status.lastScaleMs, conditions },
    spec,
    clock,
  );
  const noticed = noted(sync, ...notes, ...(current === 0 ? [condition(scalingDisabled)] : []));
  return {
    ...explained(noticed, {
      step: "gates",
      before: normalised,
      after: gate.kind === "open" ? normalised : current,
      limit: limitOf(gate, current),
    }),
    gate,
  };
};

const limitOf = (gate: Gate, current: number): Limit | undefined => {
  if (gate.kind === "open" || gate.reason === "NoChange") return undefined;
  const { reason, untilMs } = gate;
  return {
    reason,
    value: current,
    message: gateSentence(reason),
    ...(untilMs !== undefined && { untilMs }),
  };
};
