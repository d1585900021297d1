import type { RecommendationRun } from "../../model/windows.ts";

/**
 * Recommendations under a stabilization window of more than an hour, which autoscaling/v2 does not allow (hpa.md 1.3). The controller has no such list to be equal to, so that only runs are kept that
 * can still decide. A run decides nothing any more once a later one is at least as high and a later one at least as low. The decisions are those of the full list.
 */
type Runs = readonly RecommendationRun[];

/** The longest stabilization window of autoscaling/v2. */
export const LONGEST_CONTROLLER_WINDOW_MS = 3_600_000;

/** In each of the two directions; with the newest run no more than an hour holds at the shortest sync period. */
const STEPS_MAX = 360;
/** Parts of the window, when there are more. */
const PARTS = 240;

/** The list with `newest` as its open run. Runs that decide nothing any more, under windows of at most `windowMs`, are left out. */
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

/** The runs, oldest first, that outdo every later one. */
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
 * Above `STEPS_MAX` runs, those of one part of the window become one: its count is that of the oldest, its end that of the youngest. A window then holds a count too long by less than a part (six
 * minutes of a day), and never too short.
 */
const thinned = (steps: Runs, windowMs: number): Runs => {
  if (steps.length <= STEPS_MAX) return steps;
  const parts = Map.groupBy(steps, ({ lastMs }) => Math.floor((lastMs * PARTS) / windowMs));
  return [...parts.values()].map((part) => part.map(withoutStep).reduce(({ replicas, firstMs }, { lastMs }) => ({ replicas, firstMs, lastMs })));
};

const withoutStep = ({ replicas, firstMs, lastMs }: RecommendationRun): RecommendationRun => ({ replicas, firstMs, lastMs });
