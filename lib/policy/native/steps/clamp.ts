import { scalingLimited } from "./sentences.ts";
import { type NativeStep, stepped, withCondition } from "./sync.ts";

/** Never below minReplicas and never above maxReplicas, whatever came before. */
export const clamp: NativeStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const { count } = sync;
  const after = Math.min(Math.max(count, minReplicas), maxReplicas);
  if (after === count) {
    const inside = scalingLimited("False", "DesiredWithinRange", "the wanted count is within minReplicas and maxReplicas");
    return { ...stepped(sync, "clamp", count), conditions: withCondition(sync, inside) };
  }
  const low = count < minReplicas;
  const reason = low ? "TooFewReplicas" : "TooManyReplicas";
  const message = `${count} is ${low ? "below minReplicas" : "above maxReplicas"}, which is ${after}`;
  const bounded = stepped(sync, "clamp", after, { reason, value: after, message });
  return { ...bounded, conditions: withCondition(sync, scalingLimited("True", reason, message)) };
};
