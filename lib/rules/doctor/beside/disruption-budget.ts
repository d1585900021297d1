import { selects } from "../../model/selector.ts";
import type { DoctorFinding } from "../patient.ts";
import type { BesideRule, DisruptionBudget, Scaled } from "./beside.ts";

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

/** A percentage below 100 lets one of so many pods go, because percentages are whole numbers. */
const PODS_OF_EVERY_PERCENT = 100;

/**
 * The fewest pods, more than `above` and at most `most`, of which one may be evicted; undefined
 * where no such count helps.
 */
const fewestEvictable = (
  budget: DisruptionBudget,
  { above, most }: { readonly above: number; readonly most: number },
): number | undefined => {
  const { minAvailable } = budget;
  const first = Math.max(above, typeof minAvailable === "number" ? minAvailable : 0) + 1;
  const last = Math.min(most, first + PODS_OF_EVERY_PERCENT);
  for (let pods = first; pods <= last; pods++) if ((evictable(budget, pods) ?? 0) > 0) return pods;
  return undefined;
};

/** Where a higher minimum helps, it is the line to change; else the budget is. */
const changeOf = (
  budget: DisruptionBudget,
  field: string,
  { minReplicas, maxReplicas }: Scaled,
): DoctorFinding["change"] => {
  const pods = fewestEvictable(budget, { above: minReplicas, most: maxReplicas });
  return pods === undefined
    ? {
        field: `PodDisruptionBudget "${budget.name}": spec.${field}`,
        advice: "write a value that lets one pod go at the minimum",
      }
    : {
        field: "spec.minReplicas",
        value: String(minReplicas),
        advice: `write ${pods} or more, or a ${field} of the budget that lets one pod go`,
      };
};

export const DISRUPTION_BUDGET: BesideRule = {
  name: "disruption-budget",
  severity: "advice",
  finds: "a PodDisruptionBudget lets no pod be evicted at minReplicas",
  examine: (scaled, { workload, budgets }) =>
    budgets
      .filter(({ selector }) => selects(selector, workload.labels))
      .flatMap((budget) => {
        const { target, minReplicas } = scaled;
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
            change: changeOf(budget, field, scaled),
          },
        ];
      }),
};
