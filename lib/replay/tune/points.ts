import type { Figures } from "../figures.ts";
import { frontsOf, type HasAmounts } from "./fronts.ts";
import type { Settings } from "./settings.ts";

/** Settings that were replayed, with what they came to. */
export interface TunedPoint extends HasAmounts {
  readonly genes: readonly number[];
  readonly settings: Settings;
  readonly figures: Figures;
}

/** By so much more a point may cost, or be above the target, and still be of use to anybody. */
const DEARER_MOST = 1.5;
const WORSE_MOST = 2;
const WORSE_POINTS = 0.02;
/** More than any amount: what is of no use is behind everything that is. */
const BEHIND = 1e9;

/**
 * What is made small: replica-hours, the share of time above the target, and reversals. A point far
 * from the policy of now comes behind all others, by how far it is, so that the search stays where
 * somebody would go.
 */
export const amountsOf = (
  { replicaHours, aboveTarget, reversals }: Figures,
  now: Pick<Figures, "replicaHours" | "aboveTarget">,
): readonly number[] => {
  // A time of which nothing is known must not look like one without a fault.
  const above = Number.isNaN(aboveTarget) ? 1 : aboveTarget;
  const aboveMost = Math.max(WORSE_MOST * now.aboveTarget, now.aboveTarget + WORSE_POINTS) || 1;
  const far =
    Math.max(0, replicaHours / (now.replicaHours * DEARER_MOST) - 1) +
    Math.max(0, above / aboveMost - 1);
  return [replicaHours, above, reversals].map((amount) => amount + far * BEHIND);
};

/** The named points beside the policy of now, in the order in which they are shown. */
export const POINT_NAMES = ["cheapest", "safest", "knee", "fewest"] as const;
export type PointName = (typeof POINT_NAMES)[number];

/** What each name promises beside the policy of now. */
export const POINT_WORDS: Readonly<Record<PointName, string>> = {
  cheapest: "the cheapest that is not worse",
  safest: "the safest that is not dearer",
  knee: "the knee of the front",
  fewest: "the fewest scales, not worse and at most 5 % dearer",
};

type Compared = Pick<Figures, "replicaHours" | "aboveTarget" | "unserved" | "scales">;

const isNotDearer = (one: Compared, now: Compared): boolean => one.replicaHours <= now.replicaHours;
/** What fewer scales may cost. */
const HARDLY = 1.05;
const isHardlyDearer = (one: Compared, now: Compared): boolean =>
  one.replicaHours <= now.replicaHours * HARDLY;
const isNotWorse = (one: Compared, now: Compared): boolean =>
  one.aboveTarget <= now.aboveTarget && (one.unserved ?? 0) <= (now.unserved ?? 0);

/** Whether figures are what a name promises beside the figures of now. The knee promises nothing. */
export const keepsPromise = (name: PointName, one: Compared, now: Compared): boolean => {
  switch (name) {
    case "cheapest":
      return isNotWorse(one, now) && isNotDearer(one, now);
    case "safest":
      return isNotDearer(one, now) && isNotWorse(one, now);
    case "fewest":
      return isNotWorse(one, now) && isHardlyDearer(one, now) && one.scales <= now.scales;
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
  const fewest = leastOf(promised("fewest"), ({ scales }) => scales, now);
  const knee = kneeOf(frontOf(points));
  return {
    ...(cheapest && { cheapest }),
    ...(safest && { safest }),
    ...(knee && { knee }),
    ...(fewest && { fewest }),
  };
};

/** What nothing dominates, and is near enough to the policy of now; the cheapest first. */
export const frontOf = (points: readonly TunedPoint[]): readonly TunedPoint[] => {
  const [front = []] = frontsOf(points);
  const near = front.filter(({ amounts: [cost = 0], figures }) => cost === figures.replicaHours);
  return near.toSorted(
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
