import { stepped, withCondition } from "../../shared/steps.ts";
import { scalingLimited } from "./sentences.ts";
import type { NativeStep, NativeSync } from "./sync.ts";

/** Never below minReplicas and never above maxReplicas, whatever came before. */
export const clamp: NativeStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const { count } = sync;
  if (count < minReplicas) return bounded(sync, minReplicas, "TooFewReplicas", `${count} is below minReplicas, which is ${minReplicas}`);
  if (count > maxReplicas) return bounded(sync, maxReplicas, "TooManyReplicas", `${count} is above maxReplicas, which is ${maxReplicas}`);
  const inside = scalingLimited("False", "DesiredWithinRange", "the wanted count is within minReplicas and maxReplicas");
  return { ...stepped(sync, "clamp", count), conditions: withCondition(sync, inside) };
};

const bounded = (sync: NativeSync, bound: number, reason: string, message: string): NativeSync => ({
  ...stepped(sync, "clamp", bound, { reason, value: bound, message }),
  conditions: withCondition(sync, scalingLimited("True", reason, message)),
});
