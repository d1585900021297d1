import { isTidemarkError, TidemarkError } from "../model/errors.ts";

/** Does the work for each item in turn. A failure does not stop it, as with kubectl: the others are done, and all failures are thrown together at the end. */
export const forEachResource = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const failures: TidemarkError[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (!isTidemarkError(error)) throw error;
      failures.push(error);
    }
  }
  const [first, ...more] = failures;
  if (!first) return;
  if (more.length === 0) throw first;
  // A stack that does not answer says the same for each.
  const messages = [...new Set(failures.map(({ message }) => message))];
  throw new TidemarkError("cli.several", messages.join("\n"), { failures });
};
