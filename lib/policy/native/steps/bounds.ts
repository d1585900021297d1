import { stepped, withCondition } from "../../shared/steps.ts";
import { scalingActive } from "./sentences.ts";
import type { NativeStep, NativeSync } from "./sync.ts";

/** A count outside [min, max] goes straight to the bound, past everything but the overrides. The idle count is inside where one is given; 0 without one was set by a person or another program. */
export const bounds: NativeStep = (sync) => {
  const { minReplicas, maxReplicas, idle } = sync.input.spec;
  const { current } = sync;
  if (current > maxReplicas) return toBound(sync, maxReplicas, "AboveMaxReplicas");
  if (current >= minReplicas || current === idle?.replicas) return sync;
  if (current > 0 || idle) return toBound(sync, minReplicas, "BelowMinReplicas");
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
