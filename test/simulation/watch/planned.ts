import { clusterName, partitionName } from "../../../lib/rules/model/ids.ts";
import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import type { SyncMessage } from "../../../lib/stack/plan/message.ts";
import { planCluster } from "../../../lib/stack/plan/plan.ts";
import { SKEW_MAX_MS } from "../clock-errors.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";

/** A sync as the queue knows it. */
export const syncName = ({
  cluster,
  partition,
  dueMs,
}: Pick<SyncMessage, "cluster" | "partition" | "dueMs">): string =>
  `${cluster}/${partition}@${dueMs}`;

/** A planner may have read a cluster so long before it marks, and its edit has planned it. */
const EDITED_LATELY_MS = 5 * MINUTE_MS;

/**
 * The marks of planned minutes were written: what is still ahead of a minute that is marked now,
 * and was not before, is in the queue.
 */
export const watchPlanned = (
  ledger: Ledger,
  before: Item | undefined,
  after: Item,
  clusters: () => readonly Item[],
): void => {
  const marked = new Set(minutesIn(before));
  const fresh = minutesIn(after).filter((minuteMs) => !marked.has(minuteMs));
  for (const item of clusters()) {
    for (const message of dueIn(item, fresh, ledger.nowMs()))
      if (!ledger.queued.has(syncName(message)))
        ledger.violate(
          "a minute is marked as planned only where all of it was sent",
          `the sync ${syncName(message)} was never sent`,
        );
  }
};

const minutesIn = (item: Item | undefined): readonly number[] =>
  (item?.["minutes"]?.NS ?? []).map(Number);

const dueIn = (item: Item, minutes: readonly number[], nowMs: number): readonly SyncMessage[] => {
  const { name, deletedMs, plannedFromMs, partitions, syncPeriodMs } = item;
  if (deletedMs || Number(plannedFromMs?.N ?? 0) > nowMs - EDITED_LATELY_MS) return [];
  const cluster = {
    name: clusterName(name?.S ?? ""),
    syncPeriodMs: Number(syncPeriodMs?.N),
    partitions: (partitions?.L ?? []).map(({ M }) => ({
      name: partitionName(M?.["name"]?.S ?? ""),
    })),
  };
  return minutes
    .flatMap((fromMs) => planCluster(cluster, { fromMs, untilMs: fromMs + MINUTE_MS }))
    .filter(({ dueMs }) => dueMs > nowMs + SKEW_MAX_MS);
};
