/**
 * A function that settles once everything which was written before its call is durable. Calls that arrive while a commit is under way share the next one. After a failed commit every later call
 * fails too: the kernel may have dropped what it could not write.
 */
export const groupCommit = (commit: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve();
  let waits = false;
  return () => {
    if (waits) return last;
    waits = true;
    last = last.then(() => {
      waits = false;
      return commit();
    });
    return last;
  };
};
