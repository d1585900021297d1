/** Runs of every property: ten thousand, but few while a mutation test repeats them for each of thousands of mutants. */
export const RUNS = { numRuns: process.env["STRYKER_MUTATOR_WORKER"] === undefined ? 10_000 : 150 };
