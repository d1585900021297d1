import type { AutoscalerRecord } from "./records.ts";
import type { TargetRef } from "./spec-common.ts";

/** What names one autoscaler to readers, and what lists choose by: a row of a partition's index. The index follows from the stored autoscalers, and is written by the sync after an edit. */
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
  readonly createdMs: number;
  /** Why the stored item or its manifest cannot be read. */
  readonly problem?: string;
}

/** The autoscalers of a partition, in order of namespace and name. It counts only while the head still has this spec version, and the cluster this incarnation. */
export interface PartitionIndex {
  readonly specVersion: number;
  readonly clusterIncarnation: string;
  readonly rows: readonly IndexRow[];
}
