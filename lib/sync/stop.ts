import type { Because } from "../model/decision.ts";
import { clusterPaused, fleetFrozen } from "../report/holds.ts";
import type { Loaded } from "./load.ts";

/**
 * Why this sync may write to no workload at all: the kill switch or a pause of the cluster, as read after the claim. The autoscalers are still evaluated and journaled, so that people
 * see what would happen.
 */
export const stopOf = ({ fleet, cluster, nowMs }: Pick<Loaded, "fleet" | "cluster" | "nowMs">): Because | undefined => {
  if (fleet.frozen) return fleetFrozen(fleet.frozen);
  const pause = pausedBy(cluster, nowMs);
  return pause && clusterPaused(pause);
};

/** The pause of a cluster or an autoscaler; absent when it has none, or the pause has ended. */
export const pausedBy = (
  record: { readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number } },
  nowMs: number,
): { readonly by: string; readonly untilMs?: number } | undefined =>
  record.paused && nowMs < (record.paused.untilMs ?? Number.POSITIVE_INFINITY) ? record.paused : undefined;
