import { COUNTS_KINDS } from "./counts/kinds.ts";
import type { Difference } from "./differences.ts";
import { HPA_KINDS } from "./hpa/kinds.ts";
import type { VectorCase, VectorFile, VectorHead } from "./vector-file.ts";
import { WATERMARK_KINDS } from "./watermark/kinds.ts";

/** Runs one case through the code that the sync uses, and says where it differs. */
export type CaseRunner = (vector: VectorCase, head: VectorHead) => readonly Difference[];

/** Kinds of vectors by dialect; a dialect registers the kinds that it can run. */
export const KINDS: Readonly<Record<string, Readonly<Record<string, CaseRunner>>>> = {
  any: COUNTS_KINDS,
  hpa: HPA_KINDS,
  watermark: WATERMARK_KINDS,
};

export interface CaseResult {
  readonly id: string;
  readonly differences: readonly Difference[];
}

/**
 * Every case of a file. Of an unknown kind every case fails: silence would pass for success. A case
 * is called by its id, its name or its place.
 */
export const runFile = ({ dialect, kind, head, cases }: VectorFile): readonly CaseResult[] => {
  const runner = KINDS[dialect]?.[kind];
  return cases.map((vector, index) => ({
    id: String(vector.id ?? vector["name"] ?? `cases[${index}]`),
    differences: runner
      ? runCase(runner, vector, head)
      : [{ field: "kind", expected: "a known kind", actual: `${dialect}/${kind}` }],
  }));
};

/** The first case of a file that differs; those after it are not run. */
export const firstFailure = (file: VectorFile): CaseResult | undefined => {
  for (const vector of file.cases) {
    const [failed] = runFile({ ...file, cases: [vector] }).filter(
      ({ differences }) => differences.length > 0,
    );
    if (failed) return failed;
  }
  return undefined;
};

/** An exception is a difference too, so that one case never hides the others. */
const runCase = (
  runner: CaseRunner,
  vector: VectorCase,
  head: VectorHead,
): readonly Difference[] => {
  try {
    return runner(vector, head);
  } catch (error) {
    return [
      {
        field: "exception",
        expected: undefined,
        actual: error instanceof Error ? (error.stack ?? error.message) : error,
      },
    ];
  }
};
