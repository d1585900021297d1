/** Tells whether anything may have changed since the last look, so that unchanged data is not read again. */
export interface News {
  /** Writes that the tables have answered so far, of every client. */
  readonly writes: () => number;
  /** True while a sync is at work. Its writes are not complete yet, and a read would slow it down. */
  readonly syncing: () => boolean;
}

/** During a long sync the data is read again after this time. */
const PATIENCE_MS = 5_000;

/**
 * Reads only after something was written, or when it is asked for more than it read last. During a sync it returns the earlier value until the sync ends or the patience is over.
 */
export const onNews = <Value>(
  news: News,
  read: (most: number) => Promise<Value>,
  elapsed: () => number = () => performance.now(),
): ((most?: number) => Promise<Value>) => {
  let last: { readonly value: Value; readonly most: number; readonly writes: number; readonly readMs: number } | undefined;
  return async (most = Number.POSITIVE_INFINITY) => {
    const writes = news.writes();
    const waits = news.syncing() && elapsed() - (last?.readMs ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS;
    if (last && last.most >= most && (last.writes === writes || waits)) return last.value;
    // The count is taken before the read, so that the next call reads a write that comes meanwhile.
    last = { value: await read(most), most, writes, readMs: elapsed() };
    return last.value;
  };
};
