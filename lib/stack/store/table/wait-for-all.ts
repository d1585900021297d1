import limited from "p-limit";

/**
 * As many requests as the client of the tables has sockets for (real-tables.ts): more of them would
 * wait for each other. A question of all of 500 clusters takes two rounds. Sockets are opened as
 * they are needed, and a function may have a thousand open files.
 */
export const REQUESTS_AT_ONCE = 256;
/**
 * Clusters that are read at the same time where an answer keeps what it reads: 500 of them take
 * four rounds.
 */
export const CLUSTERS_AT_ONCE = 128;

/**
 * Does the work for every item, at most `parallel` at once, and waits like `waitForAll`. Most syncs
 * have fewer items than the bound, and then need no queue.
 */
export const mapWithLimit = <Item, Result>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  if (items.length <= parallel) return waitForAll(items.map((item) => work(item)));
  const limit = limited(parallel);
  return waitForAll(items.map((item) => limit(work, item)));
};

/**
 * Waits for all promises, then throws the first failure. Unlike `Promise.all` it leaves no request
 * under way, which a frozen environment would send when it runs again.
 */
export const waitForAll = async <Result>(
  running: readonly Promise<Result>[],
): Promise<readonly Result[]> => {
  const settled = await Promise.allSettled(running);
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
};

/**
 * The results in the order of the items. So many of them are worked on together, and the next ones
 * when these are taken. A caller that stops early waits for what was begun, so that no request is
 * left under way.
 */
export async function* eachInGroups<Item, Result>(
  items: readonly Item[],
  together: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  for (let at = 0; at < items.length; at += together) {
    const begun = items.slice(at, at + together).map((item) => work(item));
    // A failure is thrown where its result is taken.
    for (const running of begun) running.catch(() => undefined);
    try {
      for (const running of begun) yield await running;
    } finally {
      await Promise.allSettled(begun);
    }
  }
}
