import type { ScaleEventRecord } from "./records.ts";

/** A change of the count that this stack did not make: no intent belongs to it. It happened about `atMs`, and was seen at `settledMs`. */
export interface OutsideEventRecord extends Omit<ScaleEventRecord, "outcome"> {
  readonly outcome: "outside";
}

/** Every event that the history holds. */
export type EventRecord = ScaleEventRecord | OutsideEventRecord;
