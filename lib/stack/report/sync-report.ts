import type { Because } from "../../rules/model/decision.ts";
import type { PartitionRef } from "../../rules/model/ids.ts";
import { DAY_SECONDS } from "../../rules/model/time-text.ts";
import type { OutsideEventRecord, ScaleEventRecord } from "../../rules/model/scale-records.ts";

/** The outcome of one message: the input of its log lines and metrics. */
export type SyncReport = CompletedSync | DroppedSync;

interface SyncOutcome extends PartitionRef {
  readonly dueMs: number;
  /** Why it was woken; absent for a planned sync. */
  readonly woken?: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A message that had no effect, and the reason. */
export interface DroppedSync extends SyncOutcome {
  readonly kind: "dropped";
  readonly why: DropReason;
  /** How far this machine's clock is ahead of the service's, when that is the reason. */
  readonly wrongByMs?: number;
}

/**
 * `stale`: later messages do its work. `early`: it is due in the future. `clock`: this machine's
 * clock is wrong. `done`: this due time or a later one is done. `held`: another sync holds the
 * lease. `removed`: the partition does not exist any more. `restored`: the tables were restored or
 * are a copy, and no person has adopted them. `lost`: another sync claimed the partition halfway.
 * `newer`: a later release works on the partition. `moved`: the fleet has moved to another region,
 * or is about to. `overwritten`: another region has written over the partition after a move.
 */
export type DropReason =
  | "stale"
  | "early"
  | "clock"
  | "done"
  | "held"
  | "removed"
  | "restored"
  | "lost"
  | "newer"
  | "moved"
  | "overwritten";

export interface CompletedSync extends SyncOutcome {
  readonly kind: "completed";
  readonly epoch: number;
  readonly autoscalers: number;
  readonly evaluated: number;
  /** Autoscalers held because something could not be evaluated. */
  readonly failed: number;
  /** No scale of the cluster could be read, and no answer said that a workload does not exist. */
  readonly unreachable: boolean;
  /** Events settled in this sync, of its own scales and of earlier ones. */
  readonly events: readonly ScaleEventRecord[];
  /** Changes of counts that this stack did not make. */
  readonly outside: readonly OutsideEventRecord[];
  readonly openIntents: number;
  /** Autoscalers that cannot be decided, because a stored item cannot be read. */
  readonly unreadable: readonly AutoscalerReason[];
  /** Autoscalers for which a rule threw, with the error. They hold; the others do not. */
  readonly ruleFailures: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly error: Error;
  }[];
  /** Autoscalers whose conditions changed. */
  readonly changed: readonly AutoscalerReason[];
  /** What could not be read of the objects that hold specs; absent where the cluster holds none. */
  readonly specProblems?: readonly string[];
  /**
   * Objects whose change is not stored, because their namespace has used its bytes; absent where
   * the cluster holds none.
   */
  readonly specsOverBudget?: number;
  /**
   * What became of the status and the Events that were written to the objects of the cluster.
   * `left`: no time, no room, or no right.
   */
  readonly writtenBack?: {
    readonly written: number;
    readonly failed: number;
    readonly left: number;
  };
  readonly calls: number;
  readonly bytes: number;
  readonly pagesWritten: number;
  readonly journalPages: number;
  /** What only readers need and this sync could not make, or not all of it. A later sync does it. */
  readonly projections: readonly ProjectionState[];
  /** Scales that the rules wanted and that a hold prevented. */
  readonly heldBack: number;
  /** Autoscalers that hold because their namespace has used its share of the sync. */
  readonly overShare: readonly AutoscalerReason[];
  /** Why the sync wrote nothing to the cluster: the kill switch, or a pause of the cluster. */
  readonly stopped?: Because;
  /** The version of the zone data by which schedules were read; absent without schedules. */
  readonly zoneData?: string;
  readonly phasesMs: Readonly<Record<string, number>>;
  /** Absent where the clock of the sync is the real one. */
  readonly real?: RealTime;
}

/** A projection (lib/stack/projections) that is behind or that failed. */
export interface ProjectionState {
  readonly name: string;
  /** How long the oldest time waits that could be made. */
  readonly behindSeconds: number;
  readonly failure?: string;
}

/** A projection that waits so long is catching up no more: in ten days the first facts expire. */
const BEHIND_SECONDS = 3 * DAY_SECONDS;
export const isFarBehind = ({ behindSeconds }: ProjectionState): boolean =>
  behindSeconds >= BEHIND_SECONDS;

/**
 * What a sync took after its claim. A virtual clock stands still during a sync, so that only real
 * time says it.
 */
export interface RealTime {
  readonly tookMs: number;
  readonly phasesMs: Readonly<Record<string, number>>;
}

export interface AutoscalerReason extends Because {
  readonly namespace: string;
  readonly name: string;
}

/**
 * One value of a CloudWatch metric. A metric per autoscaler would cost more than everything else
 * together, so the finest dimension is the cluster.
 */
export interface Metric<Name extends string = MetricName> {
  readonly name: Name;
  readonly unit: "Count" | "Milliseconds" | "Bytes" | "Percent";
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
  | "ProjectionsBehind"
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
 * How much is sent of each sync. CloudWatch charges for a metric in each hour in which it gets a
 * value, so a steady sync sends two values for the fleet.
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
  throw new RangeError(
    `Cannot send metrics: TIDEMARK_CLUSTER_METRICS is "${text}", and "all", "few" or "none" was wanted`,
  );
};

const count = (name: MetricName, value: number): Metric => ({ name, unit: "Count", value });

/** Metrics of one sync. The alarms of infra/alarms.yml take a count that is missing as zero. */
export const syncMetrics = (report: SyncReport, extent: MetricExtent): readonly Metric[] => {
  const lag: Metric = {
    name: "SyncLag",
    unit: "Milliseconds",
    value: Math.max(0, report.startMs - report.dueMs),
  };
  const steady = report.kind === "completed" ? [lag, count("CompletedSyncs", 1)] : [lag];
  const counts = report.kind === "dropped" ? droppedCounts(report) : completedCounts(report);
  return extent === "all"
    ? [...steady, ...counts, ...figuresOf(report)]
    : [...steady, ...counts.filter(({ value }) => value > 0)];
};

/** A message counts under one name, by why it was dropped. */
const droppedCounts = ({ why }: DroppedSync): readonly Metric[] => {
  const countOf = (name: MetricName, reasons: readonly DropReason[]): Metric =>
    count(name, reasons.includes(why) ? 1 : 0);
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
    count("ProjectionsBehind", report.projections.filter(isFarBehind).length),
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
