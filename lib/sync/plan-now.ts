import type { ClusterRecord } from "../model/records.ts";
import { eachDone } from "../store/table/all-done.ts";
import { delaySeconds, MINUTE_MS, planCluster } from "./plan.ts";
import { BATCH_MAX, type MessageQueue, sendBatch } from "./send-messages.ts";

/** Until then the next call of the scheduler has planned this cluster: it comes within a minute, and up to a minute late. */
const AHEAD_MS = 2 * MINUTE_MS;
const PARALLEL = 4;

/**
 * Plans the next two minutes of a cluster that was just added or divided, so that its first sync need not wait for the next call of the scheduler. That call plans the same minutes
 * again; the claim refuses a due time that is done.
 */
export const planNow = async (
  ports: { readonly queue: MessageQueue; readonly clock: () => number },
  cluster: Pick<ClusterRecord, "name" | "partitions" | "syncPeriodMs">,
): Promise<void> => {
  const nowMs = ports.clock();
  const messages = planCluster(cluster, { fromMs: nowMs, untilMs: nowMs + AHEAD_MS }).toSorted((one, other) => one.dueMs - other.dueMs);
  const batches = Array.from({ length: Math.ceil(messages.length / BATCH_MAX) }, (_, at) => messages.slice(at * BATCH_MAX, (at + 1) * BATCH_MAX));
  await eachDone(batches, PARALLEL, (batch) =>
    sendBatch(
      ports.queue,
      batch.map((message) => ({ message, delaySeconds: delaySeconds(message, ports.clock()) ?? 0 })),
    ),
  );
};
