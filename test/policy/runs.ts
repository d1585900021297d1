/** A mutation test repeats every property for each of thousands of mutants: few runs then, always the same ones, and no search for the smallest failure. */
export const UNDER_MUTATION = process.env["STRYKER_MUTATOR_WORKER"] !== undefined;
const MUTATION_RUNS = { numRuns: 50, seed: 1, endOnFailure: true } as const;

/** CI repeats a property so often; a person waits for a tenth of that. */
const share = process.env["CI"] === undefined ? 10 : 1;

/** The runs of a property: so many in CI, a tenth of them elsewhere, and few under mutation. */
export const runs = (inCi: number) => (UNDER_MUTATION ? MUTATION_RUNS : { numRuns: Math.ceil(inCi / share) });

export const RUNS = runs(10_000);
