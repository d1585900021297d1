import type { Problem, Warning } from "./problem.ts";
import type { Validation } from "./validation.ts";

/** Problems and warnings of a manifest. */
export interface Findings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/** Applies the validation level: a warning about an unknown field stays a warning under "warn", becomes a problem under "strict", and is dropped under "ignore". */
export const applyValidation = (findings: Findings, validation: Validation): Findings => {
  const warnings = eachOnce(findings.warnings);
  const others = warnings.filter(({ refusal }) => refusal === undefined);
  switch (validation) {
    case "strict":
      return { problems: [...refusalsOf(warnings), ...unexplained(findings.problems, warnings)], warnings: others };
    case "warn":
      return { problems: findings.problems.map((problem) => withMisspelling(problem, warnings)), warnings };
    case "ignore":
      return { problems: findings.problems.map((problem) => withMisspelling(problem, warnings)), warnings: others };
  }
};

/** A form that reads a manifest in two passes finds the same warnings twice. */
const eachOnce = (warnings: readonly Warning[]): readonly Warning[] => [
  ...new Map(warnings.map((warning) => [`${warning.field}\n${warning.message}`, warning])).values(),
];

const refusalsOf = (warnings: readonly Warning[]): readonly Problem[] =>
  warnings.flatMap(({ field, refusal }) => (refusal === undefined ? [] : [{ field, ...refusal }]));

/** A misspelled field is reported once, at its misspelling, and not again as missing. */
const unexplained = (problems: readonly Problem[], warnings: readonly Warning[]): readonly Problem[] => {
  const meantFields = warnings.flatMap((warning) => warning.meant ?? []);
  const missing = problems.filter(
    ({ type, field, source = field }) => type === "FieldValueRequired" && meantFields.some((path) => isWithin(source, path)),
  );
  const explained = new Set(missing.map(({ field }) => field));
  return problems.filter(({ field }) => !explained.has(field));
};

const isWithin = (field: string, path: string): boolean => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

const withMisspelling = (problem: Problem, warnings: readonly Warning[]): Problem => {
  if (problem.type !== "FieldValueRequired") return problem;
  const mistyped = warnings.find(({ meant }) => meant !== undefined && meant === (problem.source ?? problem.field));
  return mistyped ? { ...problem, fix: `rename "${mistyped.field}" to "${mistyped.meant}"` } : problem;
};
