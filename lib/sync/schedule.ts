import type { PlanReport } from "../report/plan-line.ts";
import { eachDone } from "../store/all-done.ts";
import { listClusters } from "../store/clusters.ts";
import type { Tables } from "../store/tables.ts";
import { delaySeconds, planCluster, plannedTime } from "./plan.ts";
import { BATCH_MAX, type DelayedMessage, type MessageQueue, sendBatch } from "./send-messages.ts";

/** Input of the scheduler's call. */
export interface Tick {
  readonly scheduledMs: number;
  /** True for the first call of a fleet that has nothing planned yet. */
  readonly start: boolean;
}

const PARALLEL = 8;

/** Plans the syncs of one minute and sends them, aimed at their due instants. Planning the same minute twice is harmless: a due time is done once. */
export const schedule = async (ports: { readonly tables: Tables; readonly queue: MessageQueue }, tick: Tick): Promise<PlanReport> => {
  const planned = plannedTime(tick.scheduledMs, tick.start);
  const messages: DelayedMessage[] = [];
  const unreadable: { name: string; message: string }[] = [];
  let clusters = 0;
  let skipped = 0;
  for await (const cluster of listClusters(ports.tables)) {
    if (cluster.kind === "unreadable") {
      unreadable.push({ name: cluster.name, message: cluster.message });
      continue;
    }
    clusters++;
    for (const message of planCluster(cluster.record, planned)) {
      const delay = delaySeconds(message, ports.tables.clock());
      if (delay === undefined) skipped++;
      else messages.push({ message, delaySeconds: delay });
    }
  }
  await sendAll(ports.queue, messages);
  return { ...planned, clusters, sent: messages.length, skipped, unreadable };
};

/** In order of delay, so that the soonest is sent first; batches in parallel, bounded. */
const sendAll = async (queue: MessageQueue, messages: readonly DelayedMessage[]): Promise<void> => {
  const soonest = messages.toSorted((one, other) => one.delaySeconds - other.delaySeconds);
  const batches: (readonly DelayedMessage[])[] = [];
  for (let from = 0; from < soonest.length; from += BATCH_MAX) batches.push(soonest.slice(from, from + BATCH_MAX));
  await eachDone(batches, PARALLEL, (batch) => sendBatch(queue, batch));
};
