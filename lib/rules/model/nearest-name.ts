/** Longer names are not compared, because the cost is the product of both lengths. */
const LONGEST_NAME = 64;

type Row = readonly number[];

/**
 * The number of edits between two texts: a letter removed, added, replaced, or swapped with its
 * neighbour.
 */
const distance = (from: string, to: string): number => {
  let last: Row = Array.from({ length: to.length + 1 }, (_, column) => column);
  let beforeLast = last;
  for (let row = 1; row <= from.length; row++) {
    const next = nextRow({ from, to, row }, last, beforeLast);
    beforeLast = last;
    last = next;
  }
  return last[to.length] ?? 0;
};

const nextRow = (
  { from, to, row }: { readonly from: string; readonly to: string; readonly row: number },
  last: Row,
  beforeLast: Row,
): Row => {
  const next = [row];
  for (let column = 1; column <= to.length; column++) {
    const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
    const swapped =
      from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2]
        ? (beforeLast[column - 2] ?? 0) + 1
        : replaced;
    next.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
};

/** Wrong letters of a name that is still near: a third of them, or one. */
const mostEdits = ({ length }: string): number => Math.max(1, Math.floor(length / 3));

/**
 * Letters of a name that may be the beginning of a longer one: "stabilizationWindow" begins
 * "stabilizationWindowSeconds".
 */
const FEWEST_LETTERS = 6;

/** The one known name that begins as the written name does. */
const longerName = (lower: string, known: readonly string[]): string | undefined => {
  if (lower.length < FEWEST_LETTERS) return undefined;
  const [name, ...others] = known.filter((each) => each.toLowerCase().startsWith(lower));
  return others.length === 0 ? name : undefined;
};

/**
 * The known name that was probably meant: the nearest one without regard to case, if at most `most`
 * of its letters are wrong (default: a third), or else, by default, the only one that begins with
 * it. Undefined when no name is near.
 */
export const nearestName = (
  written: string,
  known: Iterable<string>,
  most?: number,
): string | undefined => {
  if (written.length > LONGEST_NAME) return undefined;
  const lower = written.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | undefined;
  const names = [...known].filter(({ length }) => length <= LONGEST_NAME);
  for (const name of names) {
    const edits = distance(lower, name.toLowerCase());
    if (!best || edits < best.edits) best = { name, edits };
  }
  if (best && best.edits <= (most ?? mostEdits(written))) return best.name;
  return most === undefined ? longerName(lower, names) : undefined;
};
