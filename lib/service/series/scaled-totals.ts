import type { AutoscalerUid, ClusterName } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import type { Head } from "../../store/head/head.ts";
import { eventsOfCluster } from "../../store/history/cluster-events.ts";
import { DAY_MS } from "../../store/history/events.ts";
import type { Tables } from "../../store/table/tables.ts";

/** Replicas added and removed by one autoscaler in total. */
export interface Totals {
  readonly added: number;
  readonly removed: number;
}

export const NO_TOTALS: Totals = { added: 0, removed: 0 };

/**
 * Cache of one cluster's history, so that the next call does not start again. `totals` has the events before `foldedMs`, all of which were stored when they were
 * read. No event before `boundMs` can still be stored.
 */
export interface Folded {
  readonly foldedMs: number;
  readonly boundMs: number;
  readonly totals: ReadonlyMap<AutoscalerUid, Totals>;
}

export const NOTHING_FOLDED: Folded = { foldedMs: 0, boundMs: 0, totals: new Map() };

/**
 * History is complete before this instant: an event has the time of its decision, which is that of an open intent, or of a sync after the head's last. A
 * partition that never synced, or an unreadable intent, may still get an event of any time.
 */
export const completeBeforeMs = (heads: readonly (Head | undefined)[]): number =>
  Math.min(
    ...heads.map((head) => (!head || head.unreadable.length > 0 ? 0 : Math.min(head.nowMs, ...head.intents.map(({ decidedMs }) => decidedMs)))),
  );

/**
 * The totals of every autoscaler of a cluster until `nowMs`, by uid, and the next cache. `heads` were read before. Events that may not all be stored yet are
 * counted and not cached. The bound of a head is used one call later, because the history is read without consistency and may lag.
 */
export const scaledTotals = async (
  tables: Tables,
  cluster: ClusterName,
  before: Folded,
  now: { readonly heads: readonly (Head | undefined)[]; readonly oldestMs: number; readonly nowMs: number },
): Promise<{ readonly totals: ReadonlyMap<AutoscalerUid, Totals>; readonly folded: Folded }> => {
  const kept = new Map(before.totals);
  const rest: ScaleEventRecord[] = [];
  // No scale is older than the first autoscaler, except for a difference of clocks.
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

/** A scale with unknown outcome counts as applied, as everywhere. */
const add = (totals: Map<AutoscalerUid, Totals>, { uid, from, to, outcome }: ScaleEventRecord): void => {
  if (outcome === "refused") return;
  const { added, removed } = totals.get(uid) ?? NO_TOTALS;
  totals.set(uid, { added: added + Math.max(0, to - from), removed: removed + Math.max(0, from - to) });
};
