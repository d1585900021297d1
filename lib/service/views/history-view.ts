import type { Sample, SampleMetric } from "../../sync/rollup/sample.ts";

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
export interface HistoryPoint extends Omit<Sample, "atMs"> {
  /** The instant of the last evaluation in the step. */
  readonly at: string;
}

export type HistoryMetric = SampleMetric;
