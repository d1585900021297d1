import type { SyncReport } from "./sync-report.ts";

/** A metric of one sync. The only dimension is the cluster, because a metric per autoscaler would cost more than everything else together. */
export interface Metric {
  readonly name: string;
  readonly unit: "Count" | "Milliseconds" | "Bytes";
  readonly value: number;
}

/** The metrics of one sync, in print order. A metric with an alarm is sent every time, also when it is zero. */
export const syncMetrics = (report: SyncReport): readonly Metric[] => {
  const lag: Metric = { name: "SyncLag", unit: "Milliseconds", value: Math.max(0, report.startMs - report.dueMs) };
  if (report.kind === "dropped") {
    return [
      lag,
      { name: "DroppedMessages", unit: "Count", value: 1 },
      { name: "StaleMessages", unit: "Count", value: report.why === "stale" ? 1 : 0 },
      { name: "WrongClocks", unit: "Count", value: report.why === "clock" || report.why === "early" ? 1 : 0 },
      { name: "LeaseConflicts", unit: "Count", value: report.why === "held" || report.why === "lost" ? 1 : 0 },
    ];
  }
  const outcomes = Map.groupBy(report.events, ({ outcome }) => outcome);
  return [
    lag,
    { name: "SyncDuration", unit: "Milliseconds", value: report.endMs - report.startMs },
    { name: "CompletedSyncs", unit: "Count", value: 1 },
    { name: "Autoscalers", unit: "Count", value: report.autoscalers },
    { name: "EvaluationsFailed", unit: "Count", value: report.failed },
    { name: "Unreadable", unit: "Count", value: report.unreadable.length },
    { name: "ScalesApplied", unit: "Count", value: outcomes.get("applied")?.length ?? 0 },
    { name: "ScalesRefused", unit: "Count", value: outcomes.get("refused")?.length ?? 0 },
    { name: "ScalesUnknown", unit: "Count", value: outcomes.get("unknown")?.length ?? 0 },
    { name: "OpenIntents", unit: "Count", value: report.openIntents },
    { name: "ClusterCalls", unit: "Count", value: report.calls },
    { name: "ClusterBytes", unit: "Bytes", value: report.bytes },
    { name: "PagesWritten", unit: "Count", value: report.pagesWritten },
  ];
};
