import type { AutoscalerUid, PartitionRef } from "../../model/ids.ts";
import type { Evaluation } from "../../model/records.ts";
import type { Head } from "../../store/head/head.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { eachDone } from "../../store/table/all-done.ts";
import { JOURNAL_EVERY_MS } from "../../sync/write-journal.ts";
import type { QueryContext } from "../context.ts";
import type { ClusterState } from "../views/cluster-state.ts";
import { type PartitionTrouble, troubleOf } from "./trouble.ts";

/** Periods without a completed sync after which a partition is late. */
const LATE_PERIODS = 3;
/** Journal pages that speak for a partition, about 200 autoscalers: each is a query, and an outage is in all of them alike. */
const PAGES_READ = 2;

export interface PartitionState extends Omit<PartitionTrouble, "state"> {
  readonly state: Exclude<ClusterState, "frozen" | "paused">;
}

/** How a partition stands, from its head and what its newest sync journaled. An age says all where no sync has ended in time: then the journal is not asked. */
export const partitionState = async (
  context: QueryContext,
  ref: PartitionRef,
  { head, periodMs, nowMs }: { readonly head: Head | undefined; readonly periodMs: number; readonly nowMs: number },
): Promise<PartitionState> => {
  if (!head || head.nowMs === 0) return { state: "never synced", silent: false };
  if (nowMs - head.nowMs > LATE_PERIODS * periodMs) return { state: "late", silent: false, sinceMs: head.nowMs };
  const pages = [...head.pages.keys()].slice(0, PAGES_READ);
  const found = await eachDone(pages, PAGES_READ, (page) => newestOfPage(context, ref, page, head.nowMs));
  return troubleOf(found.flat());
};

/** The newest evaluation of every autoscaler of a page. The first sync of a minute tells it whole, so that nothing before that minute is read. */
const newestOfPage = async (context: QueryContext, ref: PartitionRef, page: number, untilMs: number): Promise<readonly Evaluation[]> => {
  const newest = new Map<AutoscalerUid, Evaluation>();
  const sinceMs = untilMs - (untilMs % JOURNAL_EVERY_MS);
  for await (const { evaluations, partial } of journalOfPage(context.tables, ref, { page, sinceMs, untilMs, newestFirst: true })) {
    for (const one of evaluations) if (!newest.has(one.uid)) newest.set(one.uid, one);
    if (!partial) break;
  }
  return [...newest.values()];
};
