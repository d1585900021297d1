import type { PlanReport } from "../report/function-lines.ts";
import { type ClusterItem, listClusters } from "../store/records/clusters.ts";
import { markPlanned, readPlanMarks } from "../store/records/plan-records.ts";
import { comparedClock } from "../store/table/repeat.ts";
import type { Tables } from "../store/table/tables.ts";
import type { SyncMessage } from "./message.ts";
import { isJustChanged, minutesOfCall, mustBePresent, planCluster, type Tick } from "./plan.ts";
import { type MessageQueue, sendPlanned } from "./send-messages.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

const PARALLEL = 8;
/** A call may come a minute late, and the call after it on time. */
const LATER_MARKS_MS = 2 * MINUTE_MS;

/** What plans: the tables, and the queue of syncs. */
export interface SchedulePorts {
  readonly tables: Tables;
  readonly queue: MessageQueue;
}

/**
 * Plans the syncs of the call's own minute, and of the two minutes before it where a call failed or
 * never came, and sends each with the delay to its due time. So no repeat of a failed call is
 * needed: the next call does its work. What is due in the past is left out. A minute is marked
 * where all of it was sent, or nothing was due. Planning a minute twice is harmless, because a due
 * time is done once. The clusters that it read come with the report.
 */
export const planSyncs = async (
  ports: SchedulePorts,
  tick: Tick,
): Promise<PlanReport & { readonly items: readonly ClusterItem[] }> => {
  const { tables, queue } = ports;
  const marks = await readPlanMarks(tables);
  // By a clock that is minutes ahead every sync has passed: nothing is sent, and all looks planned.
  const clock = await comparedClock(tables, "plan");
  mustBePresent(tick, clock());
  const all = minutesOfCall(tick);
  const [, , ownMs] = all;
  const missed = all.filter((minuteMs) => minuteMs !== ownMs && !marks.has(minuteMs));
  const messages: SyncMessage[] = [];
  const unreadable: { name: string; message: string }[] = [];
  let clusters = 0;
  const items: ClusterItem[] = [];
  for await (const cluster of listClusters(tables)) {
    items.push(cluster);
    if (cluster.kind === "unreadable") {
      unreadable.push({ name: cluster.name, message: cluster.message });
      continue;
    }
    clusters++;
    for (const fromMs of isJustChanged(cluster.record, tick) ? all : [...missed, ownMs]) {
      messages.push(...planCluster(cluster.record, { fromMs, untilMs: fromMs + MINUTE_MS }));
    }
  }
  const nowMs = clock();
  const ahead = messages.filter(({ dueMs }) => dueMs >= nowMs);
  const late = messages.filter(({ dueMs }) => dueMs >= ownMs && dueMs < nowMs);
  const sent = await sendPlanned({ queue, clock }, ahead, PARALLEL);
  // On doubt, not planned: what is still ahead of a minute is planned once more by the next call.
  const isWhole = (minuteMs: number): boolean =>
    sent === ahead.length &&
    !messages.some(({ dueMs }) => dueMs < nowMs && minuteOf(dueMs) === minuteMs);
  const whole = all.filter((minuteMs) => marks.has(minuteMs) || isWhole(minuteMs));
  // The marks of the calls that came after this one, where this one is late.
  const later = [...marks].filter(
    (minuteMs) => minuteMs > ownMs && minuteMs <= ownMs + LATER_MARKS_MS,
  );
  const planned = [...whole, ...later];
  if (planned.length > 0) await markPlanned(tables, planned);
  return {
    fromMs: ownMs,
    untilMs: ownMs + MINUTE_MS,
    missed,
    clusters,
    sent,
    skipped: late.length + ahead.length - sent,
    unreadable,
    items,
  };
};
