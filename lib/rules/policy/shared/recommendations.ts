import { newestRunAt, type RecommendationRun } from "../../model/windows.ts";

/**
 * The controller keeps one slot per recommendation. At each sync it uses one expired slot again:
 * the last expired one of the list (hpa.md 3.8). It matters which slots are left when a window is
 * made longer later. Here the same list is kept in the same order, as runs of evenly spaced slots.
 * The newest run is open: its effect on other slots is computed when it ends. So only the end of
 * the run changes while a recommendation stays as it is.
 */
type Runs = readonly RecommendationRun[];

/**
 * A repetition that is off its time by a second or more, or by more than half a step, begins a new
 * run. A smaller difference does not, so that syncs that a queue delivers to the second stay in one
 * run. These differences add up. The first and the last time of a run are exact. The times between
 * them are exact to the largest difference of lag, and of clocks, among its syncs. The number of
 * slots is exact to the share by which the first gap was off. This has no effect while windows stay
 * as they are or become shorter, because a window that contains a part of a run contains its last
 * time. It has an effect only in a window that was made longer after slots of an older run were
 * used again.
 */
const SPACING_TOLERANCE_MS = 999;

/**
 * The largest and smallest count recommended inside a window. A run counts by its last
 * recommendation: a window that holds any of them holds that one.
 */
export const highest = (runs: Runs, start: number, isInside: (atMs: number) => boolean): number => {
  let most = start;
  for (const { replicas, lastMs } of runs) if (replicas > most && isInside(lastMs)) most = replicas;
  return most;
};

export const lowest = (runs: Runs, start: number, isInside: (atMs: number) => boolean): number => {
  let least = start;
  for (const { replicas, lastMs } of runs)
    if (replicas < least && isInside(lastMs)) least = replicas;
  return least;
};

/**
 * The list as it stands before a recommendation under windows of at most `windowMs`: a newest run
 * that was made under others ends here.
 */
export const recalled = (runs: Runs, windowMs: number): Runs => {
  const newest = runs[newestRunAt(runs)];
  return newest?.windowMs === windowMs ? runs : settled(runs);
};

/** The list with one more recommendation; slots older than `windowMs` may be used again. */
export const recorded = (runs: Runs, replicas: number, nowMs: number, windowMs: number): Runs => {
  const at = newestRunAt(runs);
  const newest = runs[at];
  if (newest?.replicas === replicas && newest.windowMs === windowMs && isNext(newest, nowMs))
    return runs.with(at, { ...newest, lastMs: nowMs });
  const gapMs = newest === undefined ? 0 : nowMs - newest.lastMs;
  const single = { replicas, firstMs: nowMs, lastMs: nowMs, windowMs };
  const open = gapMs > 0 ? { ...single, stepMs: gapMs } : single;
  if (windowMs > LONGEST_CONTROLLER_WINDOW_MS) return condensed(runs, open, windowMs);
  const list = [...settled(runs)];
  place(list, open, nowMs - windowMs);
  return list;
};

/** Nothing is the next of a run without a step. */
const isNext = ({ lastMs, stepMs = Number.NaN }: RecommendationRun, nowMs: number): boolean =>
  Math.abs(nowMs - lastMs - stepMs) <= Math.min(SPACING_TOLERANCE_MS, stepMs / 2);

/** Ends the open run: each of its repetitions takes the slot that it took when it was made. */
export const settled = (runs: Runs): Runs => {
  const at = newestRunAt(runs);
  const open = runs[at];
  if (open?.windowMs === undefined) return runs;
  const { replicas, firstMs, lastMs, stepMs, windowMs } = open;
  if (windowMs > LONGEST_CONTROLLER_WINDOW_MS) return collapsed(runs);
  const repetitions = slotsOf(open) - 1;
  if (at === runs.length - 1 && runs.every((run) => run.firstMs >= lastMs - windowMs))
    return runs.with(at, closedWith(open, repetitions));
  const list = runs.with(at, { replicas, firstMs, lastMs: firstMs });
  // Once every slot was used again, more repetitions only turn the ring. There are as many slots as
  // runs at least.
  const first =
    repetitions <= list.length
      ? 1
      : repetitions -
        list.reduce((sum, run) => sum + slotsOf(run), 0) -
        Math.ceil(windowMs / (stepMs ?? Number.POSITIVE_INFINITY)) -
        1;
  for (let nth = Math.max(1, first); nth <= repetitions; nth++) {
    const atMs = firstMs + ((lastMs - firstMs) * nth) / repetitions;
    place(list, { replicas, firstMs: atMs, lastMs: atMs }, atMs - windowMs);
  }
  return list;
};

/** A run during which no slot left its window: none was used again, and each took a new one. */
const closedWith = (
  { replicas, firstMs, lastMs }: RecommendationRun,
  repetitions: number,
): RecommendationRun => {
  const run = { replicas, firstMs, lastMs };
  if (repetitions === 0) return run;
  // As the first repetition would be placed, so that the step is the same number.
  return { ...run, stepMs: firstMs + (lastMs - firstMs) / repetitions - firstMs };
};

type Span = Pick<RecommendationRun, "firstMs" | "lastMs" | "stepMs">;

const slotsOf = ({ firstMs, lastMs, stepMs }: Span): number => {
  if (firstMs === lastMs) return 1;
  return 1 + Math.max(1, stepMs === undefined ? 1 : Math.round((lastMs - firstMs) / stepMs));
};

/** Time of the nth slot of a run, from 0. */
const timeOf = (run: Span, nth: number): number => {
  const gaps = Math.max(1, slotsOf(run) - 1);
  return run.firstMs + ((run.lastMs - run.firstMs) * nth) / gaps;
};

/**
 * Puts one slot into a list where the last expired one is, or at its end. A sync may put several,
 * so the list is not copied for each.
 */
const place = (
  list: RecommendationRun[],
  slot: RecommendationRun,
  expiredBeforeMs: number,
): void => {
  let at = list.length - 1;
  while (at >= 0 && !((list[at]?.firstMs ?? 0) < expiredBeforeMs)) at--;
  const used = list[at];
  if (used === undefined) {
    list.splice(list.length - 1, 1, ...joined(list.at(-1), slot));
    return;
  }
  const nth = lastExpired(used, expiredBeforeMs);
  const [before] = part(used, 0, nth - 1);
  const after = part(used, nth + 1, slotsOf(used) - 1);
  if (before) list.splice(at, 1, ...joined(before, slot), ...after);
  else if (at === 0) list.splice(0, 1, slot, ...after);
  else list.splice(at - 1, 2, ...joined(list[at - 1], slot), ...after);
};

const lastExpired = (run: RecommendationRun, expiredBeforeMs: number): number => {
  let nth = slotsOf(run) - 1;
  while (timeOf(run, nth) >= expiredBeforeMs) nth--;
  return nth;
};

/** The slots of a run from one to another, as a run; nothing when there are none. */
const part = (run: RecommendationRun, from: number, to: number): Runs => {
  if (from > to) return [];
  const { replicas, stepMs } = run;
  const span = { replicas, firstMs: timeOf(run, from), lastMs: timeOf(run, to) };
  return [from === to || stepMs === undefined ? span : { ...span, stepMs }];
};

/**
 * A run with a slot behind it, as one where value and spacing go on. An open run stays on its own.
 */
const joined = (last: RecommendationRun | undefined, slot: RecommendationRun): Runs => {
  if (last === undefined) return [slot];
  const gapMs = slot.firstMs - last.lastMs;
  const goesOn = last.replicas === slot.replicas && slot.windowMs === undefined && gapMs > 0;
  if (!goesOn || (last.firstMs !== last.lastMs && !isNext(last, slot.firstMs))) return [last, slot];
  return [
    {
      replicas: slot.replicas,
      firstMs: last.firstMs,
      lastMs: slot.lastMs,
      stepMs: last.stepMs ?? gapMs,
    },
  ];
};

/** The longest stabilization window of autoscaling/v2. */
const LONGEST_CONTROLLER_WINDOW_MS = 3_600_000;

/**
 * In each of the two directions; with the newest run no more than an hour holds at the shortest
 * sync period.
 */
const STEPS_MAX = 360;
/** Parts of the window, when there are more. */
const PARTS = 240;

/**
 * The list under a stabilization window of more than an hour, which autoscaling/v2 does not allow
 * (hpa.md 1.3), with `newest` as its open run. Only runs are kept that can still decide: a run
 * decides nothing any more once a later one is at least as high and a later one at least as low.
 * The decisions equal the decisions of the full list. Runs older than `windowMs` are dropped.
 */
export const condensed = (runs: Runs, newest: RecommendationRun, windowMs: number): Runs => {
  const before = runs
    .filter(({ lastMs }) => lastMs >= newest.lastMs - windowMs)
    .map(closed)
    .toSorted((one, other) => one.lastMs - other.lastMs);
  const higher = outdoing(before, newest, (one, other) => one > other);
  const lower = outdoing(before, newest, (one, other) => one < other);
  return [
    ...[...thinned(higher, windowMs), ...thinned(lower, windowMs)].toSorted(
      (one, other) => one.lastMs - other.lastMs,
    ),
    newest,
  ];
};

/** Each run as only its last recommendation: a window that holds any of a run holds that one. */
export const collapsed = (runs: Runs): Runs =>
  runs.map(({ replicas, lastMs }) => ({ replicas, firstMs: lastMs, lastMs }));

const closed = ({ windowMs: _open, ...run }: RecommendationRun): RecommendationRun => run;

/** The runs, oldest first, that outdo every later one. */
const outdoing = (
  runs: Runs,
  newest: RecommendationRun,
  outdoes: (one: number, other: number) => boolean,
): Runs => {
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
 * Above `STEPS_MAX` runs, the runs of one part of the window become one: with the count of the
 * oldest and the end of the youngest. A window then holds a count too long by less than a part (six
 * minutes of a day), and never too short.
 */
const thinned = (steps: Runs, windowMs: number): Runs => {
  if (steps.length <= STEPS_MAX) return steps;
  const parts = Map.groupBy(steps, ({ lastMs }) => Math.floor((lastMs * PARTS) / windowMs));
  return [...parts.values()].map((runs) =>
    runs
      .map(withoutStep)
      .reduce(({ replicas, firstMs }, { lastMs }) => ({ replicas, firstMs, lastMs })),
  );
};

const withoutStep = ({ replicas, firstMs, lastMs }: RecommendationRun): RecommendationRun => ({
  replicas,
  firstMs,
  lastMs,
});
