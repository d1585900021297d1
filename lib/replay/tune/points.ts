import type { Figures } from "../figures.ts";
import { frontsOf, type HasAmounts } from "./fronts.ts";
import type { Settings } from "./settings.ts";

/** Settings that were replayed, with what they came to. */
export interface TunedPoint extends HasAmounts {
  readonly genes: readonly number[];
  readonly settings: Settings;
  readonly figures: Figures;
}

/** What is made small: replica-hours, the share of time above the target, and reversals. */
export const amountsOf = ({ replicaHours, aboveTarget, reversals }: Figures): readonly number[] => [
  replicaHours,
  // A time of which nothing is known must not look like one without a fault.
  Number.isNaN(aboveTarget) ? Number.POSITIVE_INFINITY : aboveTarget,
  reversals,
];

/** The named points beside the policy of now, in the order in which they are shown. */
export const POINT_NAMES = ["cheapest", "safest", "knee", "calmest"] as const;
export type PointName = (typeof POINT_NAMES)[number];

/** What each name promises beside the policy of now. */
export const POINT_WORDS: Readonly<Record<PointName, string>> = {
  cheapest: "the cheapest that is not worse",
  safest: "the safest that is not dearer",
  knee: "the knee of the front",
  calmest: "the fewest scales, not worse and not dearer",
};

type Compared = Pick<Figures, "replicaHours" | "aboveTarget" | "unserved" | "scales">;

const isNotDearer = (one: Compared, now: Compared): boolean => one.replicaHours <= now.replicaHours;
const isNotWorse = (one: Compared, now: Compared): boolean =>
  one.aboveTarget <= now.aboveTarget && (one.unserved ?? 0) <= (now.unserved ?? 0);

/** Whether figures are what a name promises beside the figures of now. The knee promises nothing. */
export const keepsPromise = (name: PointName, one: Compared, now: Compared): boolean => {
  switch (name) {
    case "cheapest":
      return isNotWorse(one, now) && isNotDearer(one, now);
    case "safest":
      return isNotDearer(one, now) && isNotWorse(one, now);
    case "calmest":
      return isNotWorse(one, now) && isNotDearer(one, now) && one.scales <= now.scales;
    case "knee":
      return true;
  }
};

/**
 * The points of these names; absent where the policy of now is the best of its kind already. The
 * first one counts where two are alike, so that the same points always give the same answer.
 */
export const namedPoints = (
  points: readonly TunedPoint[],
  now: Figures,
): Partial<Readonly<Record<PointName, TunedPoint>>> => {
  const promised = (name: PointName): readonly TunedPoint[] =>
    points.filter(({ figures }) => keepsPromise(name, figures, now));
  const cheapest = leastOf(promised("cheapest"), ({ replicaHours }) => replicaHours, now);
  const safest = leastOf(promised("safest"), ({ aboveTarget }) => aboveTarget, now);
  const calmest = leastOf(promised("calmest"), ({ scales }) => scales, now);
  const knee = kneeOf(frontOf(points));
  return {
    ...(cheapest && { cheapest }),
    ...(safest && { safest }),
    ...(knee && { knee }),
    ...(calmest && { calmest }),
  };
};

/** What nothing dominates in replica-hours and time above the target, the cheapest first. */
export const frontOf = (points: readonly TunedPoint[]): readonly TunedPoint[] => {
  const [front = []] = frontsOf(points);
  return front.toSorted(
    ({ amounts: [one = 0, oneAbove = 0] }, { amounts: [other = 0, otherAbove = 0] }) =>
      one - other || oneAbove - otherAbove,
  );
};

const leastOf = (
  points: readonly TunedPoint[],
  amountOf: (figures: Figures) => number,
  now: Figures,
): TunedPoint | undefined => {
  let best: TunedPoint | undefined;
  let least = amountOf(now);
  for (const point of points)
    if (amountOf(point.figures) < least) {
      best = point;
      least = amountOf(point.figures);
    }
  return best;
};

/**
 * Where the front of cost and time above the target bends most: the farthest from the line between
 * its ends, with both amounts as shares of what the front spans.
 */
const kneeOf = (front: readonly TunedPoint[]): TunedPoint | undefined => {
  const [first, last] = [front[0], front.at(-1)];
  if (!first || !last) return undefined;
  const of = ({ figures }: TunedPoint): readonly [number, number] => [
    figures.replicaHours,
    figures.aboveTarget,
  ];
  const values = front.map(of);
  const [costs, aboves] = [values.map(([cost]) => cost), values.map(([, above]) => above)];
  const [cheapest, dearest] = [Math.min(...costs), Math.max(...costs)];
  const [safest, worst] = [Math.min(...aboves), Math.max(...aboves)];
  if (dearest === cheapest || worst === safest) return first;
  let knee = first;
  let farthest = Number.NEGATIVE_INFINITY;
  for (const point of front) {
    const [cost, above] = of(point);
    const below =
      1 - (cost - cheapest) / (dearest - cheapest) - (above - safest) / (worst - safest);
    if (below > farthest) {
      knee = point;
      farthest = below;
    }
  }
  return knee;
};
