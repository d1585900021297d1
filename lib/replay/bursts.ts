import type { Sample } from "../rules/model/scale-records.ts";
import { MINUTE_MS } from "../rules/model/time-text.ts";
import { SCRAPE_MS } from "./load.ts";

/**
 * A use is the mean of a scrape's fifteen seconds. Where bursts are shorter, pods are at their
 * limit for some of these seconds and idle in others, and the mean does not show that demand was
 * cut off. What shows it is that the use rises and falls from scrape to scrape.
 */

/**
 * A load that changes once a minute turns once a minute at most, which is in one of four scrapes;
 * the rest is for the ends of a stretch.
 */
const OFTEN = 0.27;
/** A change is one of more than a fifth, and of more than the percent that is cut off. */
const CHANGE_LEAST = 0.2;
const PERCENT_LEAST = 1;
/** What lies within this time of a sample says whether there are bursts. */
const AROUND_MS = 10 * MINUTE_MS;
/** Samples that are further apart are no neighbours, and fewer neighbours than this say nothing. */
const APART_MS = 2 * MINUTE_MS;
const NEIGHBOURS_LEAST = 8;

/**
 * Seconds that do not depend on each other differ from their mean √15 times as much as means of
 * fifteen do. Three such deviations are rare; the mean difference of two values is 1.13 of one.
 */
const DEVIATIONS_OF_SECONDS = (3 * Math.sqrt(15)) / 1.13;
const ALL_OF_REQUEST_PERCENT = 100;

/** From one sample to the next. Loads are uses times the pods that were measured. */
interface Step {
  readonly fromMs: number;
  readonly toMs: number;
  readonly differs: number;
  readonly loadMs: number;
  /** It rises after a fall, or falls after a rise. */
  readonly isTurn: boolean;
}

/**
 * Which samples of one metric were likely cut off by bursts: the use turns too often for a load of
 * whole minutes, and a second that is as far above the mean as seconds may be has all that a pod
 * asks for. Bursts that are the same in each scrape leave no trace, and are not found.
 */
export const cutByBursts = (
  samples: readonly Sample[],
  percents: readonly (number | undefined)[],
): readonly boolean[] => {
  const steps = stepsOf(samples, percents);
  const around = { loadMs: 0, differs: 0, ms: 0, turns: 0, steps: 0 };
  const count = (step: Step | undefined, sign: 1 | -1): void => {
    if (!step) return;
    around.loadMs += sign * step.loadMs;
    around.differs += sign * step.differs;
    around.ms += sign * (step.toMs - step.fromMs);
    around.turns += sign * (step.isTurn ? 1 : 0);
    around.steps += sign;
  };
  let [from, until] = [0, 0];
  return samples.map(({ atMs }, at) => {
    while ((steps[until]?.toMs ?? Number.POSITIVE_INFINITY) <= atMs + AROUND_MS)
      count(steps[until++], 1);
    while (from < until && (steps[from]?.fromMs ?? atMs) < atMs - AROUND_MS)
      count(steps[from++], -1);
    const percent = percents[at];
    if (percent === undefined || around.steps < NEIGHBOURS_LEAST) return false;
    if (around.turns * SCRAPE_MS <= OFTEN * around.ms) return false;
    const spread = (around.differs * SCRAPE_MS) / around.loadMs;
    return percent * (1 + DEVIATIONS_OF_SECONDS * spread) >= ALL_OF_REQUEST_PERCENT;
  });
};

const stepsOf = (
  samples: readonly Sample[],
  percents: readonly (number | undefined)[],
): readonly Step[] => {
  let direction = 0;
  return samples.flatMap((sample, at): Step[] => {
    const [before, percent, earlier] = [samples[at - 1], percents[at], percents[at - 1]];
    if (!before || percent === undefined || earlier === undefined) return [];
    const ms = sample.atMs - before.atMs;
    if (ms > APART_MS) return [];
    const [load, loadBefore] = [percent * podsOf(sample), earlier * podsOf(before)];
    const differs = Math.abs(load - loadBefore);
    const mean = (load + loadBefore) / 2;
    if (Number.isNaN(mean)) return [];
    const isChange = differs > CHANGE_LEAST * mean && Math.abs(percent - earlier) > PERCENT_LEAST;
    const isTurn = isChange && Math.sign(load - loadBefore) === -direction;
    if (isChange) direction = Math.sign(load - loadBefore);
    return [{ fromMs: before.atMs, toMs: sample.atMs, differs, loadMs: mean * ms, isTurn }];
  });
};

/** Pods that were measured; those that were ready where nothing says it. */
const podsOf = ({ counted, ready, current }: Sample): number =>
  counted ?? ready ?? current ?? Number.NaN;
