/** Longer names are not compared, because the cost is the product of both lengths. */
const LONGEST_NAME = 64;

/** The known name that was probably meant: equal without regard to case, or at most two edits away. */
export const nearestName = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > LONGEST_NAME) return undefined;
  const lower = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, away: distance(lower, candidate.toLowerCase()) }))
    .filter(({ candidate, away }) => away <= Math.min(2, Math.floor(candidate.length / 3)))
    .sort((one, other) => one.away - other.away);
  return ranked[0]?.candidate;
};

/** The number of insertions, deletions and replacements between two names. */
const distance = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
};
