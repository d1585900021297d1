/** Longer names are not compared, because the cost is the product of both lengths. */
const LONGEST_NAME = 64;

type Row = readonly number[];

/** The number of edits between two texts: a letter removed, added, replaced, or swapped with its neighbour. */
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

const nextRow = ({ from, to, row }: { readonly from: string; readonly to: string; readonly row: number }, last: Row, beforeLast: Row): Row => {
  const next = [row];
  for (let column = 1; column <= to.length; column++) {
    const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
    const swapped = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2] ? (beforeLast[column - 2] ?? 0) + 1 : replaced;
    next.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
};

/** Wrong letters of a name that is still near: a third of them, or one. */
const mostEdits = ({ length }: string): number => Math.max(1, Math.floor(length / 3));

/** The known name that was probably meant: the nearest one without regard to case, if at most `most` of its letters are wrong. Undefined when no name is near. */
export const nearestName = (written: string, known: Iterable<string>, most = mostEdits(written)): string | undefined => {
  if (written.length > LONGEST_NAME) return undefined;
  const lower = written.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of known) {
    if (name.length > LONGEST_NAME) continue;
    const edits = distance(lower, name.toLowerCase());
    if (!best || edits < best.edits) best = { name, edits };
  }
  return best && best.edits <= most ? best.name : undefined;
};
