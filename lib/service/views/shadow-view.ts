import type { RivalView } from "./view-types.ts";

/** What an autoscaler decided beside another controller, compared with what that one wanted. The fields are documented in docs/cli.md; fields are added, never renamed. */
export interface ShadowView {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly since: string;
  /** The end of what was compared. */
  readonly until: string;
  /** Where the comparison goes on, as the `since` of another request; absent where it is whole. */
  readonly next?: string;
  /** The controllers of the newest sync that found one. */
  readonly rivals: readonly RivalView[];
  /** Syncs in which both had decided. */
  readonly syncs: number;
  /** Those in which both wanted the same count. */
  readonly agreed: number;
  /** Those in which each wanted what the other wanted at most one sync before or after. */
  readonly agreedWithinPeriod: number;
  /** Syncs in which one of them could not decide. */
  readonly undecided: number;
  /** Replicas times hours of the counts that each wanted. */
  readonly replicaHours: { readonly own: number; readonly rival: number };
  /** Equal syncs in a row, oldest first. */
  readonly stretches: readonly ShadowStretch[];
  /** Each time that one of them left the count on which both agreed. */
  readonly reactions: readonly ShadowReaction[];
}

/**
 * Why two differ. `phase`: one wanted at most one sync earlier or later what the other wanted. `young`: within an hour after the autoscaler was made, while its windows do not reach as far back as those of
 * the other controller. `rule`: any other difference.
 */
export type ShadowDifference = "phase" | "young" | "rule";

export interface ShadowStretch {
  /** The first sync, and the first one that differs. */
  readonly at: string;
  readonly until: string;
  readonly syncs: number;
  /** The observed count. */
  readonly current?: number;
  /** The wanted counts; absent where it could not decide. */
  readonly own?: number;
  readonly rival?: number;
  /** Only where both are known and differ. */
  readonly difference?: ShadowDifference;
  readonly reason: string;
  readonly message: string;
  readonly rivalReason?: string;
  readonly rivalMessage?: string;
}

export interface ShadowReaction {
  /** The last sync in which both agreed, on `from`. */
  readonly at: string;
  readonly from: number;
  /** The count on which they agreed again; absent where they have not yet. */
  readonly to?: number;
  /** How long after `at` each wanted another count; absent where it did not. */
  readonly ownSeconds?: number;
  readonly rivalSeconds?: number;
}
