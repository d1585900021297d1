/**
 * The kinds of error that the Kubernetes API reports for a field (hpa.md 1.3), one for a wrong JSON
 * type, and one for strict validation.
 */
export type ProblemType =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTypeInvalid"
  | "FieldUnknown";

/** One problem of a manifest and its remedy. */
export interface Problem {
  /**
   * Path in the terms of autoscaling/v2, as the Kubernetes API names it:
   * "spec.metrics[0].resource.name".
   */
  readonly field: string;
  /** The path in the manifest, when its form has another name for the field. */
  readonly source?: string;
  readonly type: ProblemType;
  /** The API's message; may be empty. */
  readonly detail: string;
  /** What to write instead. */
  readonly fix: string;
}

/** An accepted field that probably does not mean what the author thinks. */
export interface Warning {
  readonly field: string;
  readonly message: string;
  readonly fix?: string;
  /** For an unknown field, the path of the known field that was probably meant. */
  readonly meant?: string;
  /** The problem that strict validation makes of it. */
  readonly refusal?: Pick<Problem, "type" | "detail" | "fix">;
}

/** The warning where it applies. */
export const warnIf = (
  applies: boolean,
  field: string,
  message: string,
  fix: string,
): readonly Warning[] => (applies ? [{ field, message, fix }] : []);

export const required = (field: string, detail: string, fix: string): Problem => ({
  field,
  type: "FieldValueRequired",
  detail,
  fix,
});

export const invalidField = (field: string, detail: string, fix: string): Problem => ({
  field,
  type: "FieldValueInvalid",
  detail,
  fix,
});

export const forbidden = (field: string, detail: string, fix: string): Problem => ({
  field,
  type: "FieldValueForbidden",
  detail,
  fix,
});

/** How the API begins its message about a value outside a closed set. */
const SUPPORTED_VALUES = "supported values: ";

/** A value outside a closed set. The values are in alphabetical order, as in the API. */
export const notSupported = (field: string, supported: readonly string[]): Problem => ({
  field,
  type: "FieldValueNotSupported",
  detail: `${SUPPORTED_VALUES}${quotedList(supported)}`,
  fix: `write one of ${quotedList(supported)}`,
});

/** A value of the wrong JSON type, which the API could not decode. */
export const wrongType = (
  field: string,
  wanted: string,
  met: unknown,
  fix = `write ${wanted}`,
): Problem => ({
  field,
  type: "FieldValueTypeInvalid",
  detail: `must be ${wanted}, not ${shown(met)}`,
  fix,
});

export const quotedList = (values: readonly string[]): string =>
  [...values]
    .sort()
    .map((value) => `"${value}"`)
    .join(", ");

/** Patterns and examples in the API's messages; people get the fix instead. */
const EXAMPLES = / \(e\.g\. .*$/;

/** One problem as a clause, such as "spec.maxReplicas is required". */
export const clauseOf = (problem: Problem): string => {
  const { field, source, type } = problem;
  const detail = problem.detail.replace(EXAMPLES, "");
  const fieldText = `${field || "the manifest"}${source === undefined ? "" : ` (here ${source})`}`;
  if (type === "FieldValueRequired" && detail === "") return `${fieldText} is required`;
  if (detail.startsWith(SUPPORTED_VALUES)) return `${fieldText} is not one of the ${detail}`;
  return detail.startsWith("must") || detail.startsWith("may")
    ? `${fieldText} ${detail}`
    : `${fieldText}: ${detail}`;
};

/** Problems of one manifest that are reported. More do not help its author. */
export const MAX_REPORTED = 50;

/**
 * The problems to report. For a missing field only its absence is reported, and problems above the
 * limit are counted.
 */
export const reportedProblems = <Some extends Problem>(
  problems: readonly Some[],
): { readonly reported: readonly Some[]; readonly more: number } => {
  const missing = new Set(
    problems.filter(({ type }) => type === "FieldValueRequired").map(({ field }) => field),
  );
  const worthTelling = problems.filter(
    ({ type, field }) => type === "FieldValueRequired" || !missing.has(field),
  );
  return {
    reported: worthTelling.slice(0, MAX_REPORTED),
    more: Math.max(0, worthTelling.length - MAX_REPORTED),
  };
};

/** One problem for each field: what comes first says more. */
export const firstOfEach = (problems: readonly Problem[]): readonly Problem[] =>
  [...Map.groupBy(problems, ({ field }) => field).values()].flatMap(([first]) => first ?? []);

const LONGEST_SHOWN = 40;

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  return `"${value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value}"`;
};
