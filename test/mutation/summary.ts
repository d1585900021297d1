/** A mutant as Stryker's JSON report holds it. */
export interface MutantRecord {
  readonly status: string;
  readonly statusReason?: string;
  readonly static?: boolean;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Both count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly MutantRecord[] }>>;
}

export interface PartSummary {
  readonly mutants: number;
  readonly killed: number;
  /**
   * Ended because a line ran a hundred times as often as without the mutant: an endless loop,
   * whatever the machine does beside it.
   */
  readonly endless: number;
  /** Ended by the clock: an endless loop or a busy machine. */
  readonly slow: number;
  readonly survived: number;
  readonly uncovered: number;
  /** A test file could not be loaded: neither killed nor survived. */
  readonly broken: number;
  /** Not tried. */
  readonly ignored: number;
}

const IGNORED = "Ignored";

/**
 * Where the mutants are that run only when a file is loaded, as Stryker asks for them: columns
 * count from 0 there.
 */
export const atLoad = ({ files }: MutationReport): readonly string[] =>
  Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === IGNORED)
      .map(
        ({ location: { start, end } }) =>
          `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
      ),
  );

/**
 * The report as far as it may be kept: without what runs at load and was not killed, and without
 * what the clock ended.
 */
export const kept = ({ files, ...report }: MutationReport): MutationReport => ({
  ...report,
  files: Object.fromEntries(
    Object.entries(files).map(([file, { mutants, ...rest }]) => [
      file,
      {
        ...rest,
        mutants: mutants.filter(
          (mutant) => (!mutant.static || mutant.status === "Killed") && !isSlow(mutant),
        ),
      },
    ]),
  ),
});

/** The first report, with the second's results of what the first passed over. */
export const withResults = (first: MutationReport, second: MutationReport): MutationReport => {
  const merged = Object.entries(first.files).map(([file, { mutants, ...rest }]) => {
    const results = new Map(second.files[file]?.mutants.map((mutant) => [keyOf(mutant), mutant]));
    return [
      file,
      {
        ...rest,
        mutants: mutants.map((mutant) =>
          mutant.status === IGNORED ? (results.get(keyOf(mutant)) ?? mutant) : mutant,
        ),
      },
    ];
  });
  return { ...first, files: Object.fromEntries(merged) };
};

const keyOf = ({ mutatorName, replacement, location }: MutantRecord): string =>
  JSON.stringify([mutatorName, replacement, location]);

const HIT_LIMIT = "Hit limit";
const isSlow = ({ status, statusReason }: MutantRecord): boolean =>
  status === "Timeout" && !statusReason?.startsWith(HIT_LIMIT);

export const summaryOf = ({ files }: MutationReport): PartSummary => {
  const mutants = Object.values(files).flatMap((file) => file.mutants);
  const count = (...statuses: readonly string[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const slow = mutants.filter(isSlow).length;
  return {
    mutants: mutants.length,
    killed: count("Killed"),
    endless: count("Timeout") - slow,
    slow,
    survived: count("Survived"),
    uncovered: count("NoCoverage"),
    broken: count("RuntimeError", "CompileError"),
    ignored: count(IGNORED),
  };
};

export const totalOf = (summaries: readonly PartSummary[]): PartSummary => {
  const sum = (field: keyof PartSummary): number =>
    summaries.reduce((total, summary) => total + summary[field], 0);
  return {
    mutants: sum("mutants"),
    killed: sum("killed"),
    endless: sum("endless"),
    slow: sum("slow"),
    survived: sum("survived"),
    uncovered: sum("uncovered"),
    broken: sum("broken"),
    ignored: sum("ignored"),
  };
};

/**
 * Percent of the mutants that were tried; those that no test reaches count as survivors. Without
 * any, none.
 */
export const scoreOf = ({
  killed,
  endless,
  slow,
  survived,
  uncovered,
}: PartSummary): number | undefined => {
  const found = killed + endless + slow;
  const tried = found + survived + uncovered;
  return tried === 0 ? undefined : (100 * found) / tried;
};

/**
 * One line each for what was not killed, as `file:line:column`, the kind of change and what it was
 * changed to.
 */
export const leftOver = ({ files }: MutationReport): readonly string[] =>
  Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(
        ({ status, statusReason }) =>
          status !== "Killed" && status !== IGNORED && !statusReason?.startsWith(HIT_LIMIT),
      )
      .map(({ status, mutatorName, replacement = "", location: { start } }) =>
        [
          `${file}:${start.line}:${start.column}`,
          status,
          mutatorName,
          replacement.replace(/\s+/g, " "),
        ].join("  "),
      ),
  );
