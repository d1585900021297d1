import { REST } from "./idle.ts";
import { stepped, withCondition } from "../../shared/steps.ts";
import { scalingActive, scalingLimited } from "./sentences.ts";
import type { NativeStep, NativeSync } from "./sync.ts";

/**
 * A count outside [min, max] goes straight to the bound, past everything but the overrides. The
 * idle count is inside where one is given; 0 without one was set by a person or another program.
 */
export const bounds: NativeStep = (sync) => {
  const { minReplicas, maxReplicas, idle } = sync.input.spec;
  const { current } = sync;
  if (current > maxReplicas) return toBound(sync, maxReplicas, "AboveMaxReplicas");
  if (current >= minReplicas || current === idle?.replicas) return sync;
  // A rest of these rules is no stop: it ends with the idle count in the spec.
  const rested = sync.conditions.some(({ type }) => type === REST);
  if (current > 0 || idle || rested) return toBound(sync, minReplicas, "BelowMinReplicas");
  const report = scalingActive(
    "False",
    "ScalingDisabled",
    "the count is 0 and no idle count is given: the workload was stopped by a person or another program",
  );
  return {
    ...sync,
    conditions: withCondition(sync, report),
    ending: { kind: "settled", because: { reason: report.reason, message: report.message } },
  };
};

const toBound = (sync: NativeSync, bound: number, reason: string): NativeSync => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const message = `the count of ${sync.current} is outside ${minReplicas} to ${maxReplicas}`;
  const after = stepped(sync, "bounds", bound, { reason, value: bound, message });
  return { ...after, trigger: message, ending: { kind: "settled", because: { reason, message } } };
};

/** Never below minReplicas and never above maxReplicas, whatever came before. */
export const clamp: NativeStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const { count } = sync;
  if (count < minReplicas)
    return bounded(
      sync,
      minReplicas,
      "TooFewReplicas",
      `${count} is below minReplicas, which is ${minReplicas}`,
    );
  if (count > maxReplicas)
    return bounded(
      sync,
      maxReplicas,
      "TooManyReplicas",
      `${count} is above maxReplicas, which is ${maxReplicas}`,
    );
  const inside = scalingLimited(
    "False",
    "DesiredWithinRange",
    "the wanted count is within minReplicas and maxReplicas",
  );
  return { ...stepped(sync, "clamp", count), conditions: withCondition(sync, inside) };
};

const bounded = (sync: NativeSync, bound: number, reason: string, message: string): NativeSync => ({
  ...stepped(sync, "clamp", bound, { reason, value: bound, message }),
  conditions: withCondition(sync, scalingLimited("True", reason, message)),
});
