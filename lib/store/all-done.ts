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
