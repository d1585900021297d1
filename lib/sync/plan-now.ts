import type { ClusterRecord } from "../model/records.ts";
import { MINUTE_MS, planCluster } from "./plan.ts";
import { type SendingPorts, sendPlanned } from "./send-planned.ts";

/** Until then the next call of the scheduler has planned this cluster: it comes within a minute, and up to a minute late. */
const AHEAD_MS = 2 * MINUTE_MS;
const PARALLEL = 4;

/**
 * Plans the next two minutes of a cluster that was just added or divided, so that its first sync need not wait for the next call of the scheduler. That call plans the same minutes
 * again; the claim refuses a due time that is done.
 */
export const planNow = async (ports: SendingPorts, cluster: Pick<ClusterRecord, "name" | "partitions" | "syncPeriodMs">): Promise<void> => {
  const nowMs = ports.clock();
  await sendPlanned(ports, planCluster(cluster, { fromMs: nowMs, untilMs: nowMs + AHEAD_MS }), PARALLEL);
};
