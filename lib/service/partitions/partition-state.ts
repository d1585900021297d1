import type { AutoscalerUid, PartitionRef } from "../../model/ids.ts";
import type { PartitionTrouble } from "../../model/partition-trouble.ts";
import type { Evaluation } from "../../model/records.ts";
import { troubleOf } from "../../report/partition-trouble.ts";
import type { Head } from "../../store/head/head.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { journalPages } from "../../store/pages/plan.ts";
import { statedIn } from "../../store/summary/head-summary.ts";
import { eachDone } from "../../store/table/all-done.ts";
import { JOURNAL_EVERY_MS } from "../../sync/write-journal.ts";
import type { QueryContext } from "../context.ts";
import type { ClusterState } from "../views/cluster-state.ts";

/** Periods without a completed sync after which a partition is late. */
const LATE_PERIODS = 3;
/** Journal pages that are read per partition, about 200 autoscalers. Each is a query, and an outage shows in all of them. */
const PAGES_READ = 2;

export interface PartitionState extends Omit<PartitionTrouble, "state"> {
  readonly state: Exclude<ClusterState, "frozen" | "paused">;
}

/** The state of a partition, as its head says it; from its newest journal pages, where the newest sync wrote no summary. When no sync has ended in time the state is "late". */
export const partitionState = async (
  context: QueryContext,
  ref: PartitionRef,
  { head, periodMs, nowMs }: { readonly head: Head | undefined; readonly periodMs: number; readonly nowMs: number },
): Promise<PartitionState> => {
  if (!head || head.nowMs === 0) return { state: "never synced", silent: false, holds: [] };
  if (nowMs - head.nowMs > LATE_PERIODS * periodMs) return { state: "late", silent: false, holds: [], sinceMs: head.nowMs };
  const stated = statedIn(head);
  if (stated) return stated.trouble;
  const pages = journalPages(head.pages.length).slice(0, PAGES_READ);
  const newestPages = await eachDone(pages, PAGES_READ, (page) => newestOfPage(context, ref, page, head.nowMs));
  return troubleOf(newestPages.flat());
};

/** The newest evaluation of every autoscaler of a page. The first sync of each minute writes the whole page, so nothing older is read. */
const newestOfPage = async (context: QueryContext, ref: PartitionRef, page: number, untilMs: number): Promise<readonly Evaluation[]> => {
  const newest = new Map<AutoscalerUid, Evaluation>();
  const sinceMs = untilMs - (untilMs % JOURNAL_EVERY_MS);
  for await (const { evaluations, partial } of journalOfPage(context.tables, ref, { page, sinceMs, untilMs, newestFirst: true })) {
    for (const evaluation of evaluations) if (!newest.has(evaluation.uid)) newest.set(evaluation.uid, evaluation);
    if (!partial) break;
  }
  return [...newest.values()];
};
