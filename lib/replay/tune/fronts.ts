/** Amounts to make small, each of its own kind: nothing says how much of one another is worth. */
export type Amounts = readonly number[];

export interface HasAmounts {
  readonly amounts: Amounts;
}

/** Whether one is nowhere worse, and somewhere better. */
export const dominates = (one: Amounts, other: Amounts): boolean => {
  let isBetter = false;
  for (const [at, amount] of one.entries()) {
    const beside = other[at] ?? Number.NaN;
    if (!(amount <= beside)) return false;
    if (amount < beside) isBetter = true;
  }
  return isBetter;
};

/**
 * The fronts of a set: the first holds what nothing dominates, the next what nothing of the rest
 * dominates, and so on. The order inside a front is the order of the set.
 */
export const frontsOf = <Point extends HasAmounts>(
  points: readonly Point[],
): readonly (readonly Point[])[] => {
  const fronts: Point[][] = [];
  let rest = [...points];
  while (rest.length > 0) {
    const front = rest.filter(
      ({ amounts }) => !rest.some((other) => dominates(other.amounts, amounts)),
    );
    fronts.push(front);
    const taken = new Set(front);
    rest = rest.filter((point) => !taken.has(point));
  }
  return fronts;
};

/**
 * How much room each point of a front has: the sides of the box between its neighbours, each as a
 * share of what the front spans. The ends have infinite room, so that they stay.
 */
export const roomOf = (front: readonly HasAmounts[]): readonly number[] => {
  const room = new Array<number>(front.length).fill(0);
  const kinds = front[0]?.amounts.length ?? 0;
  for (let kind = 0; kind < kinds; kind++) {
    const amountAt = (at: number): number => front[at]?.amounts[kind] ?? Number.NaN;
    const order = front
      .map((_, at) => at)
      .toSorted((one, other) => amountAt(one) - amountAt(other));
    const [first = 0, last = 0] = [order[0], order.at(-1)];
    const span = amountAt(last) - amountAt(first);
    for (const [place, at] of order.entries()) {
      const [before, after] = [order[place - 1], order[place + 1]];
      if (before === undefined || after === undefined) room[at] = Number.POSITIVE_INFINITY;
      else if (span > 0) room[at] = (room[at] ?? 0) + (amountAt(after) - amountAt(before)) / span;
    }
  }
  return room;
};
