import type { Tables } from "../../store/table/tables.ts";
import { type MeanSyncs, meanWith } from "../../store/head/mean-sync.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { ClusterAnswers, Loaded, StoredPages, Verdict } from "../hand-over.ts";

/** What the bill of the stack is made from, with this sync. */
export const meanAfter = (
  { periodMs }: Pick<SyncMessage, "periodMs">,
  { head, nowMs, objects }: Pick<Loaded, "head" | "nowMs" | "objects">,
  {
    seen,
    verdicts,
    stored,
    clock,
  }: {
    readonly seen: Pick<ClusterAnswers, "observed">;
    readonly verdicts: readonly Verdict[];
    readonly stored: Pick<StoredPages, "changed">;
    readonly clock: Tables["clock"];
  },
): MeanSyncs =>
  meanWith(
    head.mean,
    {
      autoscalers: verdicts.length,
      changed: stored.changed.size,
      pods: verdicts.reduce((sum, verdict) => sum + countOf(verdict), 0),
      bytes: seen.observed.bytes + (objects?.bytes ?? 0),
      tookMs: Math.max(0, clock() - nowMs),
    },
    periodMs,
  );

const countOf = (verdict: Verdict): number => {
  if (verdict.kind === "unevaluated") return 0;
  const { scale } = verdict.input.observation;
  return scale.kind === "read" ? scale.statusReplicas : 0;
};
