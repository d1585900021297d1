import { stepped } from "../../shared/steps.ts";
import { moveOf, type NativeStep } from "./sync.ts";

/** Step minimum and modulo of the direction: a change that is too small is not made, and counts are multiples, rounded up (never fewer pods than wanted, never across the current count). */
export const round: NativeStep = (sync) => {
  const { current, count } = sync;
  const move = moveOf(sync);
  if (!move) return stepped(sync, "round", count);
  const { stepMinimum, replicaModulo } = move.rules;
  if (Math.abs(count - current) < stepMinimum) {
    const message = `a change of fewer than ${stepMinimum} pods is not made`;
    return stepped(sync, "round", current, { reason: "StepMinimum", value: stepMinimum, message });
  }
  const multiple = Math.ceil(count / replicaModulo) * replicaModulo;
  const after = move.up ? multiple : Math.min(multiple, current);
  if (after === count) return stepped(sync, "round", count);
  return stepped(sync, "round", after, { reason: "ReplicaModulo", value: replicaModulo, message: `counts are multiples of ${replicaModulo}` });
};
