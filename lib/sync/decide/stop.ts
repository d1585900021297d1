import type { Because } from "../../model/decision.ts";
import { clusterPaused, fleetFrozen } from "../../report/holds.ts";
import { pausedBy } from "../../model/records.ts";
import type { Loaded } from "../load/load.ts";

/**
 * Why this sync may write to no workload at all: the kill switch or a pause of the cluster, as read after the claim. The autoscalers are still evaluated and journaled, so that people
 * see what would happen.
 */
export const stopOf = ({ fleet, cluster, nowMs }: Pick<Loaded, "fleet" | "cluster" | "nowMs">): Because | undefined => {
  if (fleet.frozen) return fleetFrozen(fleet.frozen);
  const pause = pausedBy(cluster, nowMs);
  return pause && clusterPaused(pause);
};
