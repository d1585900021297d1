import type { Random } from "./random.ts";

/** Clocks are ahead or behind by this at most, so that any two differ by twice as much. */
export const SKEW_MAX_MS = 2_000;
/** Chance that a clock is wrong beyond what any clock may be, and by how much. */
const WRONG_CHANCE = 0.03;
const WRONG_MS = [3_100, 20_000, 3_600_000];
/**
 * Chance that a clock is right: between such clocks runs of recommendations go on, and pages need
 * no write.
 */
const RIGHT_CHANCE = 0.3;

/** The same of a clock that steps while it is looked at: what such a step does is hard to hit. */
const STEP_WRONG_CHANCE = 0.3;

const CLOCK_SEEDS: ReadonlySet<number> = new Set([11, 17]);
const SEEDS = 20;
/** Seeds from here on are those of the nights: in half of them. */
const FRESH = 1_000;

/**
 * Where people and the planner have clocks that are wrong and step, and the planner's environment
 * lives on. By the seed, so that nothing else that is drawn depends on it.
 */
export const hasWrongClocks = (seed: number): boolean =>
  CLOCK_SEEDS.has(seed % SEEDS) || (seed >= FRESH && seed % 2 === 1);

/** Of their clocks more are wrong beyond what a clock may be: they are read seldom. */
const PERSON_WRONG_CHANCE = 0.15;
const PERSON_WRONG_MS = [3_100, 240_000, 3_660_000];

/** How far the clock of a person, or of an environment of the planner, is ahead. */
export const drawPersonSkew = (random: Random): number =>
  random.chance(PERSON_WRONG_CHANCE)
    ? random.pick([-1, 1]) * random.pick(PERSON_WRONG_MS)
    : drawSkew(random, 0, 0);

/** How far a clock is ahead once it has stepped inside the life of a sync. */
export const drawStep = (random: Random, extreme: number): number =>
  drawSkew(random, extreme, STEP_WRONG_CHANCE);

/**
 * How far a clock is ahead once it was set anew. `extreme`: the share of clocks that are as wrong
 * as a clock may be.
 */
export const drawSkew = (random: Random, extreme: number, wrong = WRONG_CHANCE): number => {
  if (random.chance(wrong)) return random.pick([-1, 1]) * random.pick(WRONG_MS);
  if (extreme < 1 && random.chance(RIGHT_CHANCE)) return 0;
  return random.chance(extreme)
    ? random.pick([-SKEW_MAX_MS, SKEW_MAX_MS])
    : random.int(-SKEW_MAX_MS, SKEW_MAX_MS);
};
