import { eachDone } from "../store/table/all-done.ts";
import type { SyncMessage } from "./message.ts";
import { delaySeconds } from "./plan.ts";
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
  await eachDone(batches, parallel, async (batch) => {
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
