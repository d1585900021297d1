import { play } from "../play.ts";
import type { Violation } from "../watch/ledger.ts";
import { STEP } from "../watch/model-steps.ts";
import type { PlantedBug } from "./planted.ts";

/**
 * What a seed shows of a mistake: the violation, if it is of an invariant that must catch it. A
 * mistake may lead to others; the table in docs/proofs-report.md is of what it is known for.
 */
export const shownBy = async (
  planted: PlantedBug,
  seed: number,
): Promise<Violation | undefined> => {
  // The model may be the first to tell of a mistake: it is silent where another invariant must
  // catch it as well.
  const unwatched = planted.caughtBy.includes(STEP) ? {} : { unwatched: STEP };
  const { violation } = await play(seed, { faults: true, told: false, planted, ...unwatched });
  return violation && planted.caughtBy.includes(violation.invariant) ? violation : undefined;
};

interface Limits {
  /** How many of the seeds that can show the mistake are played. */
  readonly seeds: number;
  /** Milliseconds; no seed begins later. */
  readonly searchMs: number;
}

/** The first seed that shows a mistake, or undefined where the limits end the search before. */
export const firstSeed = async (
  planted: PlantedBug,
  { seeds, searchMs }: Limits,
): Promise<number | undefined> => {
  const endMs = performance.now() + searchMs;
  let played = 0;
  for (let seed = 0; played < seeds && performance.now() < endMs; seed++) {
    if (planted.where && !planted.where(seed)) continue;
    played++;
    if (await shownBy(planted, seed)) return seed;
  }
  return undefined;
};
