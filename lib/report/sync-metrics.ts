import type { CompletedSync, DroppedSync, DropReason, SyncReport } from "./sync-report.ts";

/** One value of a CloudWatch metric. A metric per autoscaler would cost more than everything else together, so the finest dimension is the cluster. */
export interface Metric<Name extends string = MetricName> {
  readonly name: Name;
  readonly unit: "Count" | "Milliseconds" | "Bytes";
  readonly value: number;
}

export type MetricName =
  | "Autoscalers"
  | "ClusterBytes"
  | "ClusterCalls"
  | "CompletedSyncs"
  | "DroppedMessages"
  | "EvaluationsFailed"
  | "FailedSyncs"
  | "LeaseConflicts"
  | "OpenIntents"
  | "PagesWritten"
  | "RuleFailures"
  | "ScalesApplied"
  | "ScalesRefused"
  | "ScalesUnknown"
  | "SpecsOverBudget"
  | "StaleMessages"
  | "RestoredTables"
  | "SyncDuration"
  | "SyncLag"
  | "TenantsOverShare"
  | "Unreadable"
  | "UnreachableSyncs"
  | "WrongClocks";

/**
 * How much is sent of each sync. CloudWatch charges for a metric in each hour in which it gets a value, so a steady sync sends two values for the fleet.
 *
 * - `none`: lag and completed syncs, and each count that is not zero; only for the fleet.
 * - `few`: the same, and two of them for the cluster.
 * - `all`: every figure, zeros included, for the fleet and for the cluster.
 */
export type MetricExtent = "all" | "few" | "none";

/** What `few` sends for each cluster. */
export const CLUSTER_METRICS: ReadonlySet<string> = new Set(["EvaluationsFailed", "SyncLag"]);

/** The extent that an environment variable names. Throws a RangeError for any other text. */
export const metricExtentOf = (text: string): MetricExtent => {
  if (text === "all" || text === "few" || text === "none") return text;
  throw new RangeError(`Cannot send metrics: TIDEMARK_CLUSTER_METRICS is "${text}", and "all", "few" or "none" was wanted`);
};

const count = (name: MetricName, value: number): Metric => ({ name, unit: "Count", value });

/** Metrics of one sync. The alarms of infra/alarms.yml take a count that is missing as zero. */
export const syncMetrics = (report: SyncReport, extent: MetricExtent): readonly Metric[] => {
  const lag: Metric = { name: "SyncLag", unit: "Milliseconds", value: Math.max(0, report.startMs - report.dueMs) };
  const steady = report.kind === "completed" ? [lag, count("CompletedSyncs", 1)] : [lag];
  const counts = countsOf(report);
  return extent === "all" ? [...steady, ...counts, ...figuresOf(report)] : [...steady, ...counts.filter(({ value }) => value > 0)];
};

const countsOf = (report: SyncReport): readonly Metric[] => (report.kind === "dropped" ? droppedCounts(report) : completedCounts(report));

/** A message counts under one name, by why it was dropped. */
const droppedCounts = ({ why }: DroppedSync): readonly Metric[] => {
  const countOf = (name: MetricName, reasons: readonly DropReason[]): Metric => count(name, reasons.includes(why) ? 1 : 0);
  return [
    countOf("RestoredTables", ["restored"]),
    countOf("StaleMessages", ["stale"]),
    countOf("WrongClocks", ["clock", "early"]),
    countOf("LeaseConflicts", ["held", "lost"]),
  ];
};

const completedCounts = (report: CompletedSync): readonly Metric[] => {
  const outcomes = Map.groupBy(report.events, ({ outcome }) => outcome);
  return [
    count("EvaluationsFailed", report.failed),
    // One alarm looks at both: an autoscaler that no sync decides until a person acts.
    count("Unreadable", report.unreadable.length + report.ruleFailures.length),
    count("RuleFailures", report.ruleFailures.length),
    count("SpecsOverBudget", report.specsOverBudget ?? 0),
    count("TenantsOverShare", new Set(report.overShare.map(({ namespace }) => namespace)).size),
    count("UnreachableSyncs", report.unreachable ? 1 : 0),
    count("ScalesApplied", outcomes.get("applied")?.length ?? 0),
    count("ScalesRefused", outcomes.get("refused")?.length ?? 0),
    count("ScalesUnknown", outcomes.get("unknown")?.length ?? 0),
  ];
};

/** Figures that no alarm looks at. */
const figuresOf = (report: SyncReport): readonly Metric[] =>
  report.kind === "dropped"
    ? [count("DroppedMessages", 1)]
    : [
        { name: "SyncDuration", unit: "Milliseconds", value: report.endMs - report.startMs },
        count("Autoscalers", report.autoscalers),
        count("OpenIntents", report.openIntents),
        count("ClusterCalls", report.calls),
        { name: "ClusterBytes", unit: "Bytes", value: report.bytes },
        count("PagesWritten", report.pagesWritten),
      ];
