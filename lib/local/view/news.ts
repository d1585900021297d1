/** Tells whether anything may have changed since it was last asked, so that unchanged data is not read again. */
export interface News {
  /** Writes that the tables have answered so far, of every client. */
  readonly writes: () => number;
  /** True while a sync is at work: what it writes is not whole yet, and reading would take from its time. */
  readonly syncing: () => boolean;
}

/** Under a sync that takes long the screen is read anew after this time, all the same. */
const PATIENCE_MS = 5_000;

/**
 * Reads only after something was written. Under a sync it waits for its end, within reason; the value of before is given meanwhile.
 */
export const onNews = <Value>(news: News, read: () => Promise<Value>, elapsed: () => number = () => performance.now()): (() => Promise<Value>) => {
  let last: { readonly value: Value; readonly writes: number; readonly readMs: number } | undefined;
  return async () => {
    const writes = news.writes();
    const waits = news.syncing() && elapsed() - (last?.readMs ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS;
    if (last && (last.writes === writes || waits)) return last.value;
    // Counted before it is read: a write that comes meanwhile is read the next time.
    last = { value: await read(), writes, readMs: elapsed() };
    return last.value;
  };
};
