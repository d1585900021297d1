/** Longest name that is compared: nobody mistypes a longer one, and the comparison costs the product of both. */
const LONGEST_NAME = 64;

type Row = readonly number[];

/** Edits that turn one text into the other: a letter left out, put in, replaced, or swapped with its neighbour. */
const distance = (from: string, to: string): number => {
  let beforeLast: Row = [];
  let last: Row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = nextRow(from, to, row, last, beforeLast);
    beforeLast = last;
    last = next;
  }
  return last[to.length] ?? 0;
};

const nextRow = (from: string, to: string, row: number, last: Row, beforeLast: Row): Row => {
  const next = [row];
  for (let column = 1; column <= to.length; column++) {
    const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
    const swapped = row > 1 && from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2] ? (beforeLast[column - 2] ?? 0) + 1 : replaced;
    next.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
};

/** The known name that was probably meant: at most a third of its letters away, and one slip is always forgiven. Undefined when nothing is near. */
export const nearest = (asked: string, known: Iterable<string>): string | undefined => {
  if (asked.length > LONGEST_NAME) return undefined;
  let best: { readonly name: string; readonly away: number } | undefined;
  for (const name of known) {
    if (name.length > LONGEST_NAME) continue;
    const away = distance(asked, name);
    if (!best || away < best.away) best = { name, away };
  }
  return best && best.away <= Math.max(1, Math.floor(asked.length / 3)) ? best.name : undefined;
};
