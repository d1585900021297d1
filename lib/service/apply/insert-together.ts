import type { HistoryItem, Inserted, InsertHistory } from "../../store/history/port.ts";

interface Call {
  readonly items: readonly HistoryItem[];
  readonly resolve: (outcomes: readonly Inserted[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the items of all calls of one event-loop turn in one request to the history. A failure rejects every call. */
export const insertTogether = (insert: InsertHistory): InsertHistory => {
  let waiting: Call[] = [];
  const send = async (): Promise<void> => {
    const calls = waiting;
    waiting = [];
    try {
      const outcomes = await insert(calls.flatMap(({ items }) => items));
      let from = 0;
      for (const { items, resolve } of calls) {
        resolve(outcomes.slice(from, from + items.length));
        from += items.length;
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };
  return (items) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ items, resolve, reject }) === 1) setImmediate(() => void send());
    });
};
