import limited from "p-limit";

/**
 * Does the work for every item, at most `parallel` at once, and waits like `allDone`. Most syncs have fewer items than the bound, and then need no queue.
 */
export const eachDone = <Item, Result>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  if (items.length <= parallel) return allDone(items.map((item) => work(item)));
  const limit = limited(parallel);
  return allDone(items.map((item) => limit(work, item)));
};

/**
 * Waits for all promises, then throws the first failure. Unlike `Promise.all` it leaves no request under way, which a frozen environment would send when it runs again.
 */
export const allDone = async <Result>(running: readonly Promise<Result>[]): Promise<readonly Result[]> => {
  const settled = await Promise.allSettled(running);
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
};
