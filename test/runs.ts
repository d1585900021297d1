/**
 * A mutation test repeats every property for each of thousands of mutants: few runs then, always
 * the same ones, and no search for the smallest failure.
 */
export const UNDER_MUTATION = process.env["STRYKER_MUTATOR_WORKER"] !== undefined;
const MUTATION_RUNS = 50;

/**
 * How many times as often each property is played as in `npm test`: 1, and 30 in the part
 * `properties` of `npm run nightly`.
 */
const TIMES = Number(process.env["PROPERTY_RUNS"] ?? 1);

/** True at night, when all of what is recorded is played, and not a part of it. */
export const AT_NIGHT = TIMES > 1;

/** How often a property is played: so many times in `npm test`. */
export const runs = (inTest: number) =>
  UNDER_MUTATION
    ? { numRuns: Math.min(inTest, MUTATION_RUNS), seed: 1, endOnFailure: true }
    : { numRuns: Math.ceil(inTest * TIMES) };

/** Of what takes some ten microseconds. */
export const RUNS = runs(1_000);
