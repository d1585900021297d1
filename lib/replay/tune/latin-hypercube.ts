/** A number from 0 on and below 1. The same seed gives the same row of numbers. */
export type Random = () => number;

/**
 * So many points of the unit cube: along each side every part of equal length holds one of them.
 * So few points still see each parameter over its whole length.
 */
export const latinHypercube = (
  points: number,
  sides: number,
  random: Random,
): readonly (readonly number[])[] => {
  const columns = Array.from({ length: sides }, () => shuffled(points, random));
  return Array.from({ length: points }, (_, at) =>
    columns.map((column) => ((column[at] ?? 0) + random()) / points),
  );
};

/** The numbers from 0 on in an order by chance. */
const shuffled = (length: number, random: Random): readonly number[] => {
  const numbers = Array.from({ length }, (_, at) => at);
  for (let last = length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [numbers[last], numbers[other]] = [numbers[other] ?? 0, numbers[last] ?? 0];
  }
  return numbers;
};
