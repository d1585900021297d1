import limited from "p-limit";

/**
 * Does something for every item, at most `parallel` at once, and waits as `allDone` does. Few items need no queue: most syncs read, write and send less than the bound.
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
 * Waits for every one, then throws the first failure: unlike `Promise.all` it leaves nothing in flight, which a frozen environment would send when it thaws.
 */
export const allDone = async <Result>(running: readonly Promise<Result>[]): Promise<readonly Result[]> => {
  const settled = await Promise.allSettled(running);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
};
