import type { Problem, Warning } from "./problem.ts";
import type { Validation } from "./validation.ts";

/** What was found beside the rules of a form, after the validation that was asked for. */
export interface Judged {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/** Sorts what a reading found: what is no more than a warning under "warn" is a problem under "strict", and nothing under "ignore". */
export const judged = (found: Judged, validation: Validation): Judged => {
  const warnings = eachOnce(found.warnings);
  const others = warnings.filter(({ refusal }) => refusal === undefined);
  switch (validation) {
    case "strict":
      return { problems: [...refusalsOf(warnings), ...unexplained(found.problems, warnings)], warnings: others };
    case "warn":
      return { problems: found.problems.map((problem) => withMisspelling(problem, warnings)), warnings };
    case "ignore":
      return { problems: found.problems.map((problem) => withMisspelling(problem, warnings)), warnings: others };
  }
};

/** A form that reads a manifest in two passes finds the same twice. */
const eachOnce = (warnings: readonly Warning[]): readonly Warning[] => [
  ...new Map(warnings.map((warning) => [`${warning.field}\n${warning.message}`, warning])).values(),
];

const refusalsOf = (warnings: readonly Warning[]): readonly Problem[] =>
  warnings.flatMap(({ field, refusal }) => (refusal === undefined ? [] : [{ field, ...refusal }]));

/** A field that is missing because its name was mistyped is told once, where it was mistyped. */
const unexplained = (problems: readonly Problem[], warnings: readonly Warning[]): readonly Problem[] => {
  const meant = warnings.flatMap((warning) => warning.meant ?? []);
  const missing = problems.filter(({ type, field, source = field }) => type === "FieldValueRequired" && meant.some((path) => isWithin(source, path)));
  const explained = new Set(missing.map(({ field }) => field));
  return problems.filter(({ field }) => !explained.has(field));
};

const isWithin = (field: string, path: string): boolean => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

const withMisspelling = (problem: Problem, warnings: readonly Warning[]): Problem => {
  if (problem.type !== "FieldValueRequired") return problem;
  const mistyped = warnings.find(({ meant }) => meant !== undefined && meant === (problem.source ?? problem.field));
  return mistyped ? { ...problem, fix: `rename "${mistyped.field}" to "${mistyped.meant}"` } : problem;
};
