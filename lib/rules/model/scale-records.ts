import type {
  Because,
  ControllerEvent,
  FailedRead,
  GaugeWrite,
  MetricOutcome,
  Refusal,
  StepOutcome,
  WriteOutcome,
} from "./decision.ts";
import type {
  AutoscalerName,
  AutoscalerRef,
  AutoscalerUid,
  Namespace,
  PartitionName,
} from "./ids.ts";
import type { SlowAnswer } from "./metric-source.ts";
import type { KnownRivals, Rival } from "./observation.ts";
import type { TargetRef } from "./spec-common.ts";
import type { InForce, OutsideSeries, SeenCount, Status, Windows } from "./windows.ts";

/**
 * A scale about to be made, stored in the head of its partition before any PUT
 * (docs/architecture.md, "Exactly one effect").
 */
export interface Intent {
  /** `<uid>:<epoch that stored it>`. Its scale event has the same id. */
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly target: TargetRef;
  readonly from: number;
  readonly to: number;
  readonly targetUid: string;
  readonly resourceVersion: string;
  readonly targetGeneration?: number;
  readonly decidedMs: number;
  readonly deadlineMs: number;
  /** Generation of the autoscaler when it was decided. */
  readonly specGeneration: number;
  readonly because: Because;
  /** Stored with the intent, so that a later sync can write the whole event. */
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  /** See Scale.ruled. */
  readonly ruled?: number;
  /**
   * The recommendation of the sync that decided it. A later sync that settles the intent adds it to
   * the stabilization windows.
   */
  readonly recommendation?: number;
  /**
   * The time of the first sync after the deadline that saw the workload unmoved. A later look must
   * agree before the intent counts as refused.
   */
  readonly unmovedMs?: number;
}

/**
 * A settled scale that has its event, but is on no windows page yet. The head keeps this much of
 * its intent until a release names a page that counts the scale. A sync that finds one in the head
 * counts it, because the sync that made it died in between.
 */
export interface UncountedScale
  extends Pick<Intent, "id" | "uid" | "from" | "to" | "decidedMs" | "recommendation" | "ruled"> {
  readonly outcome: WriteOutcome["kind"];
  readonly settledMs: number;
}

/** The immutable record of one attempt to scale. */
export interface ScaleEventRecord extends AutoscalerRef {
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly partition: PartitionName;
  readonly target: TargetRef;
  /** Time of the decision. */
  readonly atMs: number;
  /**
   * A clock reading after the answer, or the time of the later sync that settled it. Windows count
   * the scale from here.
   */
  readonly settledMs: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly specGeneration: number;
  readonly outcome: WriteOutcome["kind"];
  /** The message of the API server or the transport; absent when it was applied. */
  readonly detail?: string;
}

/** A metric whose source answered slowly. */
export interface SlowMetric extends SlowAnswer {
  readonly metric: string;
  /** Place in the list of the metrics. */
  readonly at: number;
}

/** What would be done without a hold: a scale to `to`, or a hold for another reason. */
export interface WithoutHold {
  readonly to?: number;
  readonly because: Because;
}

/** What one sync found and decided for one autoscaler, as the journal stores it. */
export interface Evaluation extends InForce {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly kind: "hold" | "scale";
  readonly failed: boolean;
  readonly from?: number;
  readonly to?: number;
  readonly because: Because;
  /**
   * Present while the object of the autoscaler has a newer spec that is not stored yet, and the
   * stored one is followed.
   */
  readonly waiting?: Because;
  /**
   * The decision without the hold in `because`: a freeze, a pause, a rival. Absent where no such
   * hold applies.
   */
  readonly withoutHold?: WithoutHold;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly events: readonly ControllerEvent[];
  /** The other controllers of the workload, as this sync found them. Absent where there is none. */
  readonly rivals?: readonly Rival[];
  /** The failed read that stopped the evaluation. Absent where nothing failed. */
  readonly failedRead?: FailedRead;
  /** Why the cluster refuses pods of the workload. Absent where its controller says nothing. */
  readonly podsRefused?: Because;
  /** The metrics whose sources answered slowly. Absent where none did. */
  readonly slow?: readonly SlowMetric[];
  /** Why the scale of this evaluation was refused. Absent where it was not refused. */
  readonly refused?: Refusal;
  /**
   * The changes by others against which the rules set the count again and again. Absent where
   * nothing is fought over.
   */
  readonly contested?: OutsideSeries;
  /** The status after this sync; absent where nothing was evaluated. */
  readonly status?: Status;
  /** What was scaled so far, this sync included; absent before the first scale. */
  readonly totals?: ScaleTotals;
  /** Samples that the dialect wrote to its series, in order; absent where it has no series. */
  readonly gauges?: readonly GaugeWrite[];
}

/** The evaluations of some windows pages in one sync (lib/stack/store/pages/plan.ts). */
export interface JournalPage {
  readonly atMs: number;
  readonly epoch: number;
  readonly page: number;
  /**
   * Present when the page holds only the changes since it was last written whole, at most a minute
   * of syncs before.
   */
  readonly partial?: true;
  /** The completed sync before this one, up to which what no page says stayed as it was. */
  readonly previousMs: number;
  /** Why the sync was woken, in printable words of the sender. Absent for a planned sync. */
  readonly woken?: string;
  /**
   * How many autoscalers of this page changed what is remembered of them in this sync; absent in a
   * partial page where all that it holds did.
   */
  readonly changed?: number;
  /** What the cluster sent in this sync: in the first page of a sync that writes all. */
  readonly bytes?: number;
  readonly evaluations: readonly Evaluation[];
}

/**
 * What was scaled for one autoscaler so far. A scale with an unknown outcome counts as made, as
 * everywhere; a refused one does not count.
 */
export interface ScaleTotals {
  /** Scales up, and the replicas that they added. */
  readonly ups: number;
  readonly added: number;
  /** Scales down, and the replicas that they removed. */
  readonly downs: number;
  readonly removed: number;
  /**
   * Epoch of the last scale that is counted: a scale that is settled again by the next holder
   * counts once.
   */
  readonly epoch: number;
}

/** The entry of one autoscaler in a windows page. */
export interface StoredWindows {
  readonly uid: AutoscalerUid;
  readonly windows: Windows;
  /** Absent before the first sync that read the count. */
  readonly seen?: SeenCount;
  /** The newest changes of the count by others. Absent before the first. */
  readonly outside?: OutsideSeries;
  /** What looks for other controllers have shown. Absent before the first that was answered. */
  readonly rivals?: KnownRivals;
  /**
   * True when the newest recommendation run goes on at every sync completed since: its end is then
   * `evaluatedMs` of the head, where that is later.
   */
  readonly open: boolean;
  /** Absent before the first scale. */
  readonly totals?: ScaleTotals;
}

/**
 * A change of the count that this stack did not make: no intent belongs to it. It happened about
 * `atMs`, and was seen at `settledMs`.
 */
export interface OutsideEventRecord extends Omit<ScaleEventRecord, "outcome"> {
  readonly outcome: "outside";
  /** The field manager that made it, where the cluster says it. */
  readonly by?: string;
}

/** Every event that the history holds. */
export type EventRecord = ScaleEventRecord | OutsideEventRecord;

/**
 * What held or cut a count, in one of few kinds. `LANES` of lib/stack/report has their order and
 * words.
 */
export type Lane =
  | "refused"
  | "missing"
  | "rival"
  | "pause"
  | "other"
  | "bounds"
  | "policy"
  | "cool-down"
  | "stabilization";

/** What one evaluation says for a chart, or several of some time together. */
export interface Sample {
  readonly atMs: number;
  /** The count that there was; absent where it could not be read. */
  readonly current?: number;
  /** The count that the metrics asked for, before windows and limits. */
  readonly wanted?: number;
  /** The count after windows and limits, and without a hold. */
  readonly desired?: number;
  /** Pods of the workload that were ready. */
  readonly ready?: number;
  /** Pods whose samples made a value: of several metrics, and of several syncs, the fewest. */
  readonly counted?: number;
  /** Pods without a usable sample: of several metrics the most. Absent where there was none. */
  readonly missing?: number;
  /** Pods whose samples were too old to count, and pods of another revision: the most of them. */
  readonly stale?: number;
  readonly otherRevision?: number;
  /** The bounds that were in force. */
  readonly min?: number;
  readonly max?: number;
  readonly generation?: number;
  /** The highest value ÷ target of all metrics; of two watermarks the high one counts. */
  readonly load?: number;
  readonly metrics: readonly SampleMetric[];
  readonly reason: string;
  /** What held or cut the count. */
  readonly held?: Lane;
}

export interface SampleMetric
  extends Pick<
    Extract<MetricOutcome, { readonly kind: "measured" }>,
    "pods" | "assumed" | "turns"
  > {
  readonly name: string;
  readonly value?: string;
  readonly target?: string;
  readonly ratio?: number;
  /** Of a percentage: the mean of a pod, of which the percentage is cut off to a whole one. */
  readonly average?: string;
}
