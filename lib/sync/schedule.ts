import type { PlanReport } from "../report/plan-line.ts";
import { listClusters } from "../store/records/clusters.ts";
import type { Tables } from "../store/table/tables.ts";
import type { SyncMessage } from "./message.ts";
import { mustBePresent, planCluster, plannedTime, plannedTimeOf, type Tick } from "./plan.ts";
import type { MessageQueue } from "./send-messages.ts";
import { sendPlanned } from "./send-planned.ts";

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
  const sent = await sendPlanned({ queue: ports.queue, clock: ports.tables.clock }, messages, PARALLEL);
  return { ...planned, clusters, sent, skipped: messages.length - sent, unreadable };
};
