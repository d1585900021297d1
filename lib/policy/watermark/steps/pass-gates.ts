import type { Limit } from "../../../model/decision.ts";
import { type Gate, shouldScale } from "./gates.ts";
import { condition } from "./notes.ts";
import { gateSentence, scalingDisabled } from "./sentences.ts";
import { noted, stepped, type WatermarkStep } from "./sync.ts";

/** Whether the count may change now. */
export const passGates: WatermarkStep = (sync) => {
  const { normalised, combined, conditions, input } = sync;
  const { windows, spec, nowMs } = input;
  const current = sync.scale.specReplicas;
  const clock = { decisionMs: nowMs, wallMs: nowMs };
  const { gate, notes } = shouldScale({ current, wanted: normalised }, combined.stable, windows.status.lastScaleMs, spec, clock, conditions);
  const told = noted(sync, ...notes, ...(current === 0 ? [condition(scalingDisabled)] : []));
  return { ...stepped(told, "gates", normalised, gate.kind === "open" ? normalised : current, limitOf(gate, current)), gate };
};

const limitOf = (gate: Gate, current: number): Limit | undefined => {
  if (gate.kind === "open" || gate.reason === "NoChange") return undefined;
  const { reason, untilMs } = gate;
  return { reason, value: current, message: gateSentence(reason), ...(untilMs !== undefined && { untilMs }) };
};
