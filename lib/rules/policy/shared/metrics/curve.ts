import type { Tolerance } from "../arithmetic.ts";

/** What the rules make of a value, as a proposal has it. */
export interface AtValue {
  readonly replicas: number;
  readonly ratio: number;
  readonly overflowed?: true;
}

/**
 * What the rules would make of any value of a metric while everything else stays as this sync saw
 * it. `at` is the arithmetic that decides, so that what is said of another value is what would be
 * decided on it.
 *
 * Values are steps: thousandths of a percent, or thousandths of the amount that people read.
 */
export interface Curve {
  /** The present value, between two steps. Both are the same where it is on one. */
  readonly floor: bigint;
  readonly ceil: bigint;
  /** `undefined` where the rules could not use the value. */
  readonly at: (step: bigint) => AtValue | undefined;
  /**
   * Steps at which the arithmetic takes another branch. Between two of them a larger value never
   * asks for fewer pods. They only say where to look.
   */
  readonly bends: () => readonly bigint[];
  /** Steps between two values that differ to the rules, where they are coarser; else 1. */
  readonly grain?: bigint;
}

export const floorDivided = (value: bigint, divisor: bigint): bigint =>
  value < 0n && value % divisor !== 0n ? value / divisor - 1n : value / divisor;

export const ceilDivided = (value: bigint, divisor: bigint): bigint =>
  -floorDivided(-value, divisor);

/** A value that is measured over more pods than gave one: what was assumed is added to it. */
export interface Corrected {
  /** By how much the value is larger than the one that is left of it. */
  readonly factor: number;
  /** What was assumed, in steps. */
  readonly added: number;
}

const AS_READ: Corrected = { factor: 1, added: 0 };

/**
 * Both ends of the tolerance, and the target, for the value as it is read and as it is corrected.
 * Where the rules cut a value off to a multiple of `whole`, a branch ends at the next multiple.
 */
export const bendsAround = (
  target: number,
  { up, down }: Tolerance,
  {
    corrected = [],
    whole = 1,
  }: { readonly corrected?: readonly Corrected[]; readonly whole?: number } = {},
): readonly bigint[] => {
  // A set of numbers first: most of them come out several times, and big integers are slow.
  const points = new Set<number>();
  for (const share of [1 - down, 1, 1 + up]) {
    const cut = Math.floor((target * share) / whole) * whole;
    points
      .add(target * share)
      .add(cut)
      .add(cut + whole);
  }
  const read = [...points];
  return nextTo(
    [AS_READ, ...corrected].flatMap(({ factor, added }) =>
      read.map((point) => point * factor - added),
    ),
  );
};

/** The steps next to values; none for one without an end. */
export const nextTo = (values: readonly number[]): readonly bigint[] => {
  const steps = new Set<number>();
  for (const value of values)
    if (Number.isFinite(value)) steps.add(Math.floor(value)).add(Math.ceil(value));
  return [...steps].map(BigInt);
};

/** A curve of which another rule makes its own counts; `undefined` keeps what it could not use. */
export const curveThrough = (
  curve: Curve,
  through: (value: AtValue, step: bigint) => AtValue | undefined,
): Curve => ({
  ...curve,
  at: (step) => {
    const value = curve.at(step);
    return value && through(value, step);
  },
});
