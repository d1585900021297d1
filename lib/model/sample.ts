/** What held or cut a count, in one of few kinds. `LANES` of lib/report has their order and words. */
export type Lane = "refused" | "missing" | "rival" | "pause" | "other" | "bounds" | "policy" | "cool-down" | "stabilization";

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

export interface SampleMetric {
  readonly name: string;
  readonly value?: string;
  readonly target?: string;
  readonly ratio?: number;
}
