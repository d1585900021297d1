import { decimalText } from "../../model/quantity.ts";
import type { BesideObjects, BesideRule, Quota, Scaled } from "./beside.ts";

interface Room {
  readonly quota: Quota;
  readonly resource: string;
  /** How many more pods it admits. */
  readonly pods: number;
}

/** The quota with the least room for more pods; undefined where no quota limits them. */
const leastRoom = ({ workload, quotas }: BesideObjects): Room | undefined =>
  quotas
    .flatMap((quota) =>
      Object.entries(workload.takes).flatMap(([resource, takes]): Room[] => {
        const hard = quota.hard[resource];
        if (hard === undefined || takes <= 0n) return [];
        const left = hard - (quota.used[resource] ?? 0n);
        return [{ quota, resource, pods: left <= 0n ? 0 : Number(left / takes) }];
      }),
    )
    .toSorted((one, other) => one.pods - other.pods)[0];

/** The room of a workload that is not at its maximum and may not get there. */
const lackOf = ({ maxReplicas }: Scaled, beside: BesideObjects): Room | undefined => {
  const room = leastRoom(beside);
  const { replicas } = beside.workload;
  return room && replicas < maxReplicas && replicas + room.pods < maxReplicas ? room : undefined;
};

const usedText = ({ quota: { name, hard, used }, resource }: Room): string =>
  `ResourceQuota "${name}" has ${decimalText(used[resource] ?? 0n)} of ${decimalText(hard[resource] ?? 0n)} of ${resource} in use`;

const changeOf = ({ quota: { name }, resource }: Room): { field: string } => ({
  field: `ResourceQuota "${name}": spec.hard["${resource}"]`,
});

export const QUOTA_REFUSES: BesideRule = {
  name: "quota-refuses",
  severity: "problem",
  finds: "a ResourceQuota has no room for one more pod below maxReplicas",
  examine: (scaled, beside) => {
    const room = lackOf(scaled, beside);
    if (room?.pods !== 0) return [];
    const { replicas } = beside.workload;
    return [
      {
        evidence: `${usedText(room)}, and one more pod does not fit; the count is ${replicas}, and maxReplicas ${scaled.maxReplicas}`,
        cost: "a scale up is accepted and its pods are refused: the load stays on the pods that are there",
        change: { ...changeOf(room), advice: "raise it, or free what other workloads hold" },
      },
    ];
  },
};

export const QUOTA_BELOW_MAXIMUM: BesideRule = {
  name: "quota-below-maximum",
  severity: "advice",
  finds: "a ResourceQuota has less room than the pods up to maxReplicas take",
  examine: (scaled, beside) => {
    const room = lackOf(scaled, beside);
    if (!room || room.pods === 0) return [];
    const { replicas } = beside.workload;
    const most = replicas + room.pods;
    return [
      {
        evidence: `${usedText(room)}: ${room.pods} more ${room.pods === 1 ? "pod fits" : "pods fit"}, and maxReplicas ${scaled.maxReplicas} is ${scaled.maxReplicas - replicas} above the count of ${replicas}`,
        cost: `pods beyond ${most} are refused, while the count says that they are there`,
        change: {
          ...changeOf(room),
          advice: `raise it, or write maxReplicas ${most}`,
        },
      },
    ];
  },
};
