import type { AutoscalerRecord } from "./records.ts";
import type { ScaleTotals } from "./scale-records.ts";
import type { TargetRef } from "./spec-common.ts";

/**
 * What a reader of many autoscalers needs of each: one row of a partition's summary. A summary
 * follows from what a sync found. It decides nothing, so that it may be lost or late
 * (docs/protocol.md, "What only readers need").
 */
export interface SummaryRow {
  /** Stands for the uid (`summaryKeyOf`). */
  readonly key: string;
  /** The state as of the sync, without a freeze or a pause, which readers know themselves. */
  readonly state: string;
  /** What holds it beside its metrics; absent where nothing does. */
  readonly heldBy?: string;
  /** The reason of the decision. */
  readonly reason: string;
  /**
   * The observed count; the last known one where it could not be read. Absent where none is known.
   */
  readonly current?: number;
  /** Present where the count could not be read: since when, or 0 where that is not known. */
  readonly unreadMs?: number;
  /** The count that the rules want. */
  readonly desired?: number;
  /**
   * The bounds in force, each present where an override or a schedule sets it, and not the
   * manifest.
   */
  readonly min?: number;
  readonly max?: number;
  /** True where an override sets one of them, or holds. */
  readonly overridden?: true;
  /**
   * True where the condition `ScalingActive` is false without a failure: scaling is switched off.
   */
  readonly switchedOff?: true;
  /** True where it has the series of the watermark rules, whose values are in the journal. */
  readonly hasBands?: true;
  /** Value and target of its first metrics, as tables show them: "62% (310m)/60%". */
  readonly targets: readonly string[];
  /** Metrics that `targets` leaves out. */
  readonly moreTargets?: number;
  /** Metrics that could not be read, where some are missing. */
  readonly missing?: number;
  readonly lastScaleMs?: number;
  readonly totals?: SummaryTotals;
  readonly since?: ProblemTimes;
  /** How many things the doctor finds by the newest evaluation, where it finds some. */
  readonly findings?: number;
}

/**
 * What was scaled so far. The refused scales are counted by the summary itself: a summary that is
 * lost begins them anew, as a restarted exporter does.
 */
export interface SummaryTotals extends Omit<ScaleTotals, "epoch"> {
  readonly refusedUps: number;
  readonly refusedDowns: number;
}

/**
 * What a person must look at, where it lasts. `refused`: a scale was refused, and none was made
 * since while one is wanted. `failing`: it could not be evaluated. `unmeasured`: a metric is
 * missing. `atMax`: it wants more than its maxReplicas. `contested`: others set its count again and
 * again.
 */
export const ROW_PROBLEM_KINDS = [
  "refused",
  "failing",
  "unmeasured",
  "atMax",
  "contested",
] as const;
export type RowProblemKind = (typeof ROW_PROBLEM_KINDS)[number];

/** Since when an autoscaler has each problem; absent for one that it does not have. */
export type ProblemTimes = Readonly<Partial<Record<RowProblemKind, number>>>;

/** How many autoscalers have a problem, and how many of them for long (`LASTING_MS`). */
export interface ProblemCount {
  readonly autoscalers: number;
  readonly lasting: number;
  readonly oldestMs: number;
}
export type ProblemCounts = Readonly<Partial<Record<RowProblemKind, ProblemCount>>>;

/** A problem of an autoscaler that a person need not be woken for may end by itself until then. */
export const LASTING_MS = 15 * 60_000;

export const problemCounts = (
  rows: Iterable<Pick<SummaryRow, "since">>,
  nowMs: number,
): ProblemCounts => {
  const counts: Partial<Record<RowProblemKind, ProblemCount>> = {};
  for (const { since } of rows) {
    if (!since) continue;
    for (const kind of ROW_PROBLEM_KINDS) {
      const beganMs = since[kind];
      if (beganMs === undefined) continue;
      const { autoscalers = 0, lasting = 0, oldestMs = beganMs } = counts[kind] ?? {};
      const lasts = nowMs - beganMs >= LASTING_MS ? 1 : 0;
      counts[kind] = {
        autoscalers: autoscalers + 1,
        lasting: lasting + lasts,
        oldestMs: Math.min(oldestMs, beganMs),
      };
    }
  }
  return counts;
};

/** The rows of a summary item, by key, as an environment of the sync remembers them. */
export interface SummaryBase {
  /** The epoch of its writer. */
  readonly epoch: number;
  readonly rows: ReadonlyMap<string, SummaryRow>;
  /** Of the index that the specs in memory have. */
  readonly indexHash: string;
}

/**
 * What names one autoscaler to readers, and what lists choose by: a row of a partition's index. The
 * index follows from the stored autoscalers, and is written by the sync after an edit.
 */
export interface IndexRow {
  readonly namespace: string;
  readonly name: string;
  /** Empty where the stored item cannot be read that far. */
  readonly uid: string;
  readonly generation: number;
  /** The kind of the manifest. */
  readonly kind: string;
  readonly owner?: string;
  readonly target?: TargetRef;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly paused?: NonNullable<AutoscalerRecord["paused"]>;
  /** True where overrides are stored with it, expired ones too. */
  readonly hasOverrides?: true;
  /** True where its manifest has a schedule. */
  readonly scheduled?: true;
  readonly createdMs: number;
  /** Why the stored item or its manifest cannot be read. */
  readonly problem?: string;
}

/**
 * The autoscalers of a partition, in order of namespace and name. It counts only while the head
 * still has this spec version, and the cluster this incarnation.
 */
export interface PartitionIndex {
  readonly specVersion: number;
  readonly clusterIncarnation: string;
  readonly rows: readonly IndexRow[];
}

export const TROUBLE_STATES = [
  "failing",
  "forbidden",
  "ok",
  "partly failing",
  "unreachable",
] as const;

/**
 * The state of a partition by its evaluations. `silent`: there are none, or none of them asked the
 * cluster.
 */
export interface PartitionTrouble {
  readonly state: (typeof TROUBLE_STATES)[number];
  readonly silent: boolean;
  readonly sinceMs?: number;
  readonly error?: string;
  /**
   * An autoscaler that holds because a stored item cannot be read, as NAMESPACE/NAME, and the
   * reason. Absent when there is none.
   */
  readonly unreadable?: { readonly autoscaler: string; readonly message: string };
  /** Holds that a person must end: for each reason its first autoscaler, and how many there are. */
  readonly holds: readonly TroublingHold[];
}

export interface TroublingHold {
  readonly reason: TroublingReason;
  /** NAMESPACE/NAME. */
  readonly autoscaler: string;
  readonly message: string;
  readonly autoscalers: number;
}

/** Reasons of lib/stack/report/holds.ts that do not end by themselves. */
export const TROUBLING = ["RivalsUnknown", "RuleFailed", "SpecUnknown", "TenantOverShare"] as const;
type TroublingReason = (typeof TROUBLING)[number];

/** When a token of a cluster ends, and when another one should have taken its place. */
export interface TokenLife {
  readonly endMs: number;
  readonly renewByMs: number;
}
