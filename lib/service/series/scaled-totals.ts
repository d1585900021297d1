import type { AutoscalerUid, ClusterName } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import type { Head } from "../../store/head/head.ts";
import { eventsOfCluster } from "../../store/history/cluster-events.ts";
import { DAY_MS } from "../../store/history/events.ts";
import type { Tables } from "../../store/table/tables.ts";

/** Replicas added and removed so far by one autoscaler. */
export interface Totals {
  readonly added: number;
  readonly removed: number;
}

export const NO_TOTALS: Totals = { added: 0, removed: 0 };

/**
 * What was read of one cluster's history, so that the next reading need not begin anew. `totals` holds the events before `foldedMs`, all of which were stored when they were
 * read; before `boundMs` nothing can be stored any more.
 */
export interface Folded {
  readonly foldedMs: number;
  readonly boundMs: number;
  readonly totals: ReadonlyMap<AutoscalerUid, Totals>;
}

export const NOTHING_FOLDED: Folded = { foldedMs: 0, boundMs: 0, totals: new Map() };

/**
 * Before this instant history is complete: an event is stored under the time of its decision, which is that of an open intent, or of a sync later than the head's last. A
 * partition that never synced, or an intent that cannot be read, may still be settled under any time.
 */
export const completeBeforeMs = (heads: readonly (Head | undefined)[]): number =>
  Math.min(
    ...heads.map((head) => (!head || head.unreadable.length > 0 ? 0 : Math.min(head.nowMs, ...head.intents.map(({ decidedMs }) => decidedMs)))),
  );

/**
 * The totals of every autoscaler of a cluster until `nowMs`, by uid, and what to remember for the next time. `heads` were read before. Events that may not all be stored yet are
 * counted and not remembered. What a head vouches for is remembered one reading later: history is not read strongly, and may lag behind the head by moments.
 */
export const scaledTotals = async (
  tables: Tables,
  cluster: ClusterName,
  before: Folded,
  now: { readonly heads: readonly (Head | undefined)[]; readonly oldestMs: number; readonly nowMs: number },
): Promise<{ readonly totals: ReadonlyMap<AutoscalerUid, Totals>; readonly folded: Folded }> => {
  const kept = new Map(before.totals);
  const rest: ScaleEventRecord[] = [];
  // Nobody scaled before the first autoscaler was made; the clock of whoever made it may be another.
  const sinceMs = Math.max(before.foldedMs, now.oldestMs - DAY_MS);
  for await (const event of eventsOfCluster(tables, cluster, { sinceMs, untilMs: now.nowMs })) {
    if (event.atMs < before.boundMs) add(kept, event);
    else rest.push(event);
  }
  const totals = new Map(kept);
  for (const event of rest) add(totals, event);
  const boundMs = Math.max(before.boundMs, Math.min(completeBeforeMs(now.heads), now.nowMs));
  return { totals, folded: { foldedMs: before.boundMs, boundMs, totals: kept } };
};

/** An attempt whose outcome nobody knows counts as applied, as it does everywhere. */
const add = (totals: Map<AutoscalerUid, Totals>, { uid, from, to, outcome }: ScaleEventRecord): void => {
  if (outcome === "refused") return;
  const { added, removed } = totals.get(uid) ?? NO_TOTALS;
  totals.set(uid, { added: added + Math.max(0, to - from), removed: removed + Math.max(0, from - to) });
};
