import type { RecommendationRun } from "../model/windows.ts";

/**
 * Recommendations under a window that is longer than any of the controller (hpa.md 1.3). There is no list of its own to equal, so that only what a window can ever ask for is kept: a run that a
 * later one outdoes in both directions is in no window its highest or its lowest. Decisions are those of the full list; what is stored stays small.
 */
type Runs = readonly RecommendationRun[];

/** The longest stabilization window of autoscaling/v2. */
export const LONGEST_CONTROLLER_WINDOW_MS = 3_600_000;

/** In each of the two directions; with the newest run no more than an hour holds at the shortest sync period. */
const STEPS_MAX = 360;
/** Parts of the window, when there are more. */
const PARTS = 240;

/** The list with a newest run that is open, without what no window of `windowMs` asks for. */
export const condensed = (runs: Runs, newest: RecommendationRun, windowMs: number): Runs => {
  const before = runs
    .filter(({ lastMs }) => lastMs >= newest.lastMs - windowMs)
    .map(closed)
    .toSorted((one, other) => one.lastMs - other.lastMs);
  const higher = outdoing(before, newest, (one, other) => one > other);
  const lower = outdoing(before, newest, (one, other) => one < other);
  return [...[...thinned(higher, windowMs), ...thinned(lower, windowMs)].toSorted((one, other) => one.lastMs - other.lastMs), newest];
};

/** Each run as its last recommendation alone: a window that holds any of a run holds that one. */
export const collapsed = (runs: Runs): Runs => runs.map(({ replicas, lastMs }) => ({ replicas, firstMs: lastMs, lastMs }));

const closed = ({ windowMs: _open, ...run }: RecommendationRun): RecommendationRun => run;

/** The runs, oldest first, that none after them reaches. */
const outdoing = (runs: Runs, newest: RecommendationRun, outdoes: (one: number, other: number) => boolean): Runs => {
  const kept: RecommendationRun[] = [];
  let best = newest.replicas;
  for (const run of runs.toReversed()) {
    if (!outdoes(run.replicas, best)) continue;
    best = run.replicas;
    kept.push(run);
  }
  return kept.reverse();
};

/**
 * Of too many steps those of one part of the window become one: the oldest count holds until the youngest. So a window holds a count a little longer than it must, by less than a part (six minutes of
 * a day), and never lets it go too early.
 */
const thinned = (steps: Runs, windowMs: number): Runs => {
  if (steps.length <= STEPS_MAX) return steps;
  const parts = Map.groupBy(steps, ({ lastMs }) => Math.floor((lastMs * PARTS) / windowMs));
  return [...parts.values()].flatMap((part) => {
    const [oldest, youngest] = [part[0], part.at(-1)];
    return oldest && youngest ? [{ replicas: oldest.replicas, firstMs: oldest.firstMs, lastMs: youngest.lastMs }] : [];
  });
};
