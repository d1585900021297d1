import type { ClusterRecord } from "../model/records.ts";
import { mapWithLimit } from "../store/table/wait-for-all.ts";
import type { SyncMessage } from "./message.ts";
import { delaySeconds, MINUTE_MS, planCluster } from "./plan.ts";
import { BATCH_MAX, type MessageQueue, sendBatch } from "./send-messages.ts";

/** A batch that took longer than this was sent with delays that are wrong by as much. A queue that is merely slow answers sooner: its batches must not be doubled. */
const LATE_MS = 5_000;
/** Two more copies: the function lives 30 s, and a third pause of seconds in it is rare. */
const SENDS_MAX = 3;

export interface SendingPorts {
  readonly queue: MessageQueue;
  readonly clock: () => number;
}

/** Sends each message with the delay to its due time, the soonest first, in parallel and bounded batches. Returns how many were sent; the others had become too old. */
export const sendPlanned = async (ports: SendingPorts, messages: readonly SyncMessage[], parallel: number): Promise<number> => {
  const soonest = messages.toSorted((one, other) => one.dueMs - other.dueMs);
  const batches = Array.from({ length: Math.ceil(soonest.length / BATCH_MAX) }, (_, at) => soonest.slice(at * BATCH_MAX, (at + 1) * BATCH_MAX));
  let sent = 0;
  await mapWithLimit(batches, parallel, async (batch) => {
    const count = await sendOnTime(ports, batch);
    sent += count;
  });
  return sent;
};

/**
 * Sends one batch. A delay is relative: where the function was frozen while it sent, the messages come as much later. They are sent again with the delays of now, and the claim refuses the late copies, because their
 * due times are done.
 */
const sendOnTime = async ({ queue, clock }: SendingPorts, batch: readonly SyncMessage[]): Promise<number> => {
  const delayOf = (message: SyncMessage): number | undefined => delaySeconds(message, clock());
  let ahead = batch;
  let sent = 0;
  for (let sends = 0; sends < SENDS_MAX && ahead.length > 0; sends++) {
    const sentMs = clock();
    const count = await sendBatch(queue, ahead, delayOf);
    if (sends === 0) sent = count;
    const answeredMs = clock();
    ahead = answeredMs - sentMs > LATE_MS ? ahead.filter(({ dueMs }) => dueMs > answeredMs) : [];
  }
  return sent;
};

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
