import { daysWithin, type Figures, figuresOf, type TimeSpan } from "./figures.ts";
import type { Minutes } from "./minutes.ts";

/** What one policy comes to beside the first one, over a time and on each of its days. */
export interface BesideFirst {
  readonly figures: Figures;
  readonly days: readonly (TimeSpan & { readonly figures: Figures })[];
  /** Of the days that both know: how many were better than with the first policy. */
  readonly wins?: Wins;
}

export interface Wins {
  readonly days: number;
  /** Fewer replica-hours. */
  readonly cheaper: number;
  /** Less time above the target. */
  readonly safer: number;
  /** Fewer scales. */
  readonly calmer: number;
}

/** All policies over one time; the first one is what the others are compared with. */
export const besideFirst = (
  [first, ...others]: readonly [Minutes, ...Minutes[]],
  stretch: TimeSpan,
): readonly [BesideFirst, ...BesideFirst[]] => {
  const base = comparedOne(first, stretch);
  return [
    base,
    ...others.map((minutes) => {
      const one = comparedOne(minutes, stretch);
      return { ...one, wins: winsOf(base, one) };
    }),
  ];
};

const comparedOne = (minutes: Minutes, stretch: TimeSpan): BesideFirst => ({
  figures: figuresOf(minutes, stretch),
  days: daysWithin(stretch).map((day) => ({ ...day, figures: figuresOf(minutes, day) })),
});

const winsOf = (base: BesideFirst, other: BesideFirst): Wins => {
  const pairs = base.days.flatMap(({ figures }, at) => {
    const beside = other.days[at]?.figures;
    return beside && figures.coverage > 0 ? [[figures, beside] as const] : [];
  });
  const better = (of: (figures: Figures) => number): number =>
    pairs.filter(([one, beside]) => of(beside) < of(one)).length;
  return {
    days: pairs.length,
    cheaper: better(({ replicaHours }) => replicaHours),
    safer: better(({ aboveTarget }) => aboveTarget),
    calmer: better(({ scales }) => scales),
  };
};
