import type { Lane } from "../../report/reasons/lanes.ts";

/** What an autoscaler measured and decided over time, one point a step. The fields are documented in docs/cli.md; fields are added, never renamed. */
export interface HistoryView {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly since: string;
  readonly until: string;
  readonly stepSeconds: number;
  /** In order of time. A step without an evaluation has no point. */
  readonly points: readonly HistoryPoint[];
  /** Where to go on: the answer ends here, before `until`. */
  readonly next?: string;
}

/** Counts are those of the last evaluation in the step; loads are the highest of it. */
export interface HistoryPoint {
  /** The instant of the last evaluation in the step. */
  readonly at: string;
  /** The count that there was; absent where it could not be read. */
  readonly current?: number;
  /** The count that the metrics asked for, before windows and limits. */
  readonly wanted?: number;
  /** The count after windows and limits, and without a hold. */
  readonly desired?: number;
  /** Pods of the workload that were ready. */
  readonly ready?: number;
  /** The bounds that were in force. */
  readonly min?: number;
  readonly max?: number;
  readonly generation?: number;
  /** The highest value ÷ target of all metrics; of two watermarks the high one counts. */
  readonly load?: number;
  readonly metrics: readonly HistoryMetric[];
  readonly reason: string;
  /** What held or cut the count. */
  readonly held?: Lane;
}

export interface HistoryMetric {
  readonly name: string;
  readonly value?: string;
  readonly target?: string;
  readonly ratio?: number;
}
