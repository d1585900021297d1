import limited from "p-limit";
import type { ScaleEventRecord } from "../model/records.ts";
import { insertEvents } from "../store/history/events.ts";
import { STATEMENTS_MAX } from "../store/history/insert.ts";
import type { InsertHistory } from "../store/history/port.ts";
import { allDone } from "../store/table/all-done.ts";

/** Inserts events while the other scales of a wave are still being made. */
export interface EventBatches {
  readonly add: (event: ScaleEventRecord) => void;
  /** True once history refused a batch. Then nothing more may be written to the cluster. */
  readonly failed: () => boolean;
  /** Waits until all events are in history. Returns the stored events, which are those of an earlier holder where it was first. Throws when one could not be inserted. */
  readonly done: () => Promise<readonly ScaleEventRecord[]>;
}

/** As many as one request takes. */
const BATCH = STATEMENTS_MAX;
/** Requests under way. Four batches of 25 keep a fast engine on one core busy. The events of a cluster's day share one partition key, which takes a thousand writes a second. */
const PARALLEL = 4;

export const eventBatches = (insert: InsertHistory): EventBatches => {
  const limit = limited(PARALLEL);
  const sent: Promise<readonly ScaleEventRecord[]>[] = [];
  let waiting: ScaleEventRecord[] = [];
  let failed = false;
  const send = (): void => {
    const batch = waiting;
    waiting = [];
    const inserting = limit(insertEvents, insert, batch);
    // done() throws the failure. Until then it must not end the process as an unhandled rejection.
    inserting.catch(() => {
      failed = true;
    });
    sent.push(inserting);
  };
  return {
    add: (event) => {
      waiting.push(event);
      if (waiting.length >= BATCH) send();
    },
    failed: () => failed,
    done: async () => {
      if (waiting.length > 0) send();
      return (await allDone(sent)).flat();
    },
  };
};
