import type { PlanReport } from "../report/plan-line.ts";
import { listClusters } from "../store/records/clusters.ts";
import { eachDone } from "../store/table/all-done.ts";
import type { Tables } from "../store/table/tables.ts";
import type { SyncMessage } from "./message.ts";
import { delaySeconds, mustBePresent, planCluster, plannedTime, plannedTimeOf, type Tick } from "./plan.ts";
import { BATCH_MAX, type MessageQueue, sendBatch } from "./send-messages.ts";

const PARALLEL = 8;

interface SchedulePorts {
  readonly tables: Tables;
  readonly queue: MessageQueue;
}

/** Plans the syncs of one minute and sends each with the delay to its due time. Planning the same minute twice is harmless, because a due time is done once. */
export const schedule = async (ports: SchedulePorts, tick: Tick): Promise<PlanReport> => {
  mustBePresent(tick, ports.tables.clock());
  const planned = plannedTime(tick.scheduledMs, tick.start);
  const messages: SyncMessage[] = [];
  const unreadable: { name: string; message: string }[] = [];
  let clusters = 0;
  for await (const cluster of listClusters(ports.tables)) {
    if (cluster.kind === "unreadable") {
      unreadable.push({ name: cluster.name, message: cluster.message });
      continue;
    }
    clusters++;
    messages.push(...planCluster(cluster.record, plannedTimeOf(cluster.record, tick)));
  }
  const sent = await sendAll(ports, messages);
  return { ...planned, clusters, sent, skipped: messages.length - sent, unreadable };
};

/** Sends the soonest first, in parallel and bounded batches. Returns how many were sent; the others had become too old. */
const sendAll = async (ports: SchedulePorts, messages: readonly SyncMessage[]): Promise<number> => {
  const soonest = messages.toSorted((one, other) => one.dueMs - other.dueMs);
  const batches: (readonly SyncMessage[])[] = [];
  for (let from = 0; from < soonest.length; from += BATCH_MAX) batches.push(soonest.slice(from, from + BATCH_MAX));
  let sent = 0;
  await eachDone(batches, PARALLEL, async (batch) => {
    // The delay is calculated just before sending, because thousands of messages take seconds to send.
    const clockMs = ports.tables.clock();
    const delayed = batch.flatMap((message) => {
      const delay = delaySeconds(message, clockMs);
      return delay === undefined ? [] : [{ message, delaySeconds: delay }];
    });
    await sendBatch(ports.queue, delayed);
    sent += delayed.length;
  });
  return sent;
};
