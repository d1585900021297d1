import { selects } from "../../model/selector.ts";
import type { BesideRule, DisruptionBudget } from "./beside.ts";

const PERCENT = /^(\d{1,9})%$/;

/** A count, or a part of the pods, rounded up as the disruption controller does. */
const amountOf = (value: number | string, pods: number): number | undefined => {
  if (typeof value === "number") return value;
  const [, percent] = PERCENT.exec(value) ?? [];
  return percent === undefined ? undefined : Math.ceil((pods * Number(percent)) / 100);
};

/** How many of so many healthy pods may be evicted at once; undefined where that is not known. */
const evictable = (
  { minAvailable, maxUnavailable }: DisruptionBudget,
  pods: number,
): number | undefined => {
  if (maxUnavailable !== undefined) return amountOf(maxUnavailable, pods);
  if (minAvailable === undefined) return undefined;
  const kept = amountOf(minAvailable, pods);
  return kept === undefined ? undefined : Math.max(0, pods - kept);
};

export const DISRUPTION_BUDGET: BesideRule = {
  name: "disruption-budget",
  severity: "advice",
  finds: "a PodDisruptionBudget lets no pod be evicted at minReplicas",
  examine: ({ target, minReplicas }, { workload, budgets }) =>
    budgets
      .filter(({ selector }) => selects(selector, workload.labels))
      .flatMap((budget) => {
        if (minReplicas === 0 || evictable(budget, minReplicas) !== 0) return [];
        const { name, minAvailable, maxUnavailable } = budget;
        const [field, value] =
          maxUnavailable === undefined
            ? ["minAvailable", minAvailable]
            : ["maxUnavailable", maxUnavailable];
        return [
          {
            evidence: `PodDisruptionBudget "${name}" has ${field} ${value}, and ${target.kind} "${target.name}" has ${minReplicas} ${minReplicas === 1 ? "pod" : "pods"} at its minimum: none of them may be evicted`,
            cost: "a drain of a node waits until there are more pods; scaling down is not refused",
            change: {
              field: "spec.minReplicas",
              value: String(minReplicas),
              advice: `write ${minReplicas + 1} or more, or a ${field} of the budget that lets one pod go`,
            },
          },
        ];
      }),
};
