/** What a partition stores, for inspection by hand. The fields are documented in docs/cli.md. */
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
  /** End of the lease while a sync or an edit of stored data holds it. */
  readonly leasedUntil?: string;
  readonly pages: readonly PageView[];
  /** Scales whose outcome is not known. */
  readonly intents: readonly IntentView[];
}

export interface PageView {
  readonly page: number;
  readonly autoscalers: number;
  readonly bytes: number;
  /** Why it cannot be read, and the autoscalers that hold because of it, as NAMESPACE/NAME. */
  readonly problem?: string;
  readonly held?: readonly string[];
}

export interface IntentView {
  readonly id: string;
  /** The autoscaler as NAMESPACE/NAME; absent when it was deleted. */
  readonly autoscaler?: string;
  readonly from?: number;
  readonly to?: number;
  readonly decidedAt?: string;
  /** Its deadline; after it a sync settles it by what the cluster shows. */
  readonly deadline?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** The result of a reset: unreadable data was replaced by safe values. */
export interface ResetView {
  readonly cluster: string;
  readonly partition: string;
  /** The autoscalers that go on from here, as NAMESPACE/NAME. */
  readonly autoscalers: readonly string[];
  /** Where the history has the unreadable bytes; absent when there were none. */
  readonly kept?: { readonly pk: string; readonly sk: string; readonly bytes: number };
}
