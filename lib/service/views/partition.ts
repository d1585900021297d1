/** What a partition stores, for whoever must look at it by hand. The fields are documented in docs/cli.md. */
export interface PartitionView {
  readonly cluster: string;
  readonly partition: string;
  readonly namespaces: readonly string[] | "all others";
  readonly autoscalers: number;
  /** Absent before its first sync. */
  readonly syncedAt?: string;
  readonly ageSeconds?: number;
  /** A time of the head is ahead of the clock by this much, which is more than two clocks may differ: windows stand still until it has come. */
  readonly aheadSeconds?: number;
  readonly epoch: number;
  /** While a sync, or an edit of what is stored, is at work: until when at most. */
  readonly leasedUntil?: string;
  readonly pages: readonly PageView[];
  /** Scales whose outcome is not known. */
  readonly intents: readonly IntentView[];
}

export interface PageView {
  readonly page: number;
  readonly autoscalers: number;
  readonly bytes: number;
  /** Why it cannot be read, and the autoscalers that stand still for it, as NAMESPACE/NAME. */
  readonly problem?: string;
  readonly held?: readonly string[];
}

export interface IntentView {
  readonly id: string;
  /** The autoscaler as NAMESPACE/NAME; absent where it is gone. */
  readonly autoscaler?: string;
  readonly from?: number;
  readonly to?: number;
  readonly decidedAt?: string;
  /** When it is settled by what the cluster shows, if it is not before. */
  readonly deadline?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** Something unreadable was replaced by what errs to safety. */
export interface ResetView {
  readonly cluster: string;
  readonly partition: string;
  /** The autoscalers that go on from here, as NAMESPACE/NAME. */
  readonly autoscalers: readonly string[];
  /** Where the history keeps the bytes that could not be read; absent where there were none. */
  readonly kept?: { readonly pk: string; readonly sk: string; readonly bytes: number };
}
