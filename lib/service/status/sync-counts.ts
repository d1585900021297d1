import { partitionName } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { dueTimes, MINUTE_MS } from "../../sync/plan.ts";
import type { ClusterReading } from "../views/cluster-of.ts";
import type { StatusView } from "../views/status.ts";

export type SyncCounts = StatusView["syncs"];

/** The due times of the last minute of one cluster. A due time counts as done when it or a later one of its partition is done, because a sync makes up for those before it. */
export const syncCounts = ({ name, syncPeriodMs, plannedFromMs = 0 }: ClusterRecord, { partitions }: ClusterReading, nowMs: number): SyncCounts => {
  const window = { fromMs: Math.max(nowMs - MINUTE_MS, plannedFromMs), untilMs: nowMs };
  const due = partitions.map(({ view, head }) => ({
    doneMs: head?.dueDoneMs ?? 0,
    times: dueTimes(name, partitionName(view.name), syncPeriodMs, window),
  }));
  const open = due.flatMap(({ doneMs, times }) => times.filter((dueMs) => dueMs > doneMs));
  const planned = due.reduce((sum, { times }) => sum + times.length, 0);
  return { planned, done: planned - open.length, late: open.filter((dueMs) => dueMs < nowMs - syncPeriodMs).length };
};
