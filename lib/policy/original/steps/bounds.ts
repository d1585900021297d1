import { LIMIT_SENTENCES, type LimitReason, scalingLimited } from "../../hpa/steps/sentences.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import { stepped, withCondition } from "../../shared/steps.ts";

/** proposals.md §1: always within min and max. */
export const bounds: HpaStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const count = Math.min(maxReplicas, Math.max(minReplicas, sync.count));
  const reason: LimitReason = sync.count < minReplicas ? "TooFewReplicas" : sync.count > maxReplicas ? "TooManyReplicas" : "DesiredWithinRange";
  const limited = count !== sync.count;
  const limit = limited ? { reason, value: count, message: LIMIT_SENTENCES[reason] } : undefined;
  return { ...stepped(sync, "bounds", count, limit), conditions: withCondition(sync, scalingLimited(limited, reason)) };
};
