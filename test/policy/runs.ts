/** A mutation test repeats every property for each of thousands of mutants: few runs then, always the same ones, and no search for the smallest failure. */
const UNDER_MUTATION = process.env["STRYKER_MUTATOR_WORKER"] !== undefined;
const MUTATION_RUNS = { numRuns: 50, seed: 1, endOnFailure: true } as const;

/** The runs of a property: so many, but few under mutation. */
export const runs = (normally: number) => (UNDER_MUTATION ? MUTATION_RUNS : { numRuns: normally });

export const RUNS = runs(10_000);
