/** The kinds of error that the Kubernetes API reports for a field (hpa.md 1.3), the one for values of the wrong JSON type, and the one of strict validation. */
export type ProblemType =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTypeInvalid"
  | "FieldUnknown";

/** One thing that is wrong with a manifest, and what to write instead. */
export interface Problem {
  /** Path as the Kubernetes API names it, in the terms of autoscaling/v2: "spec.metrics[0].resource.name". */
  readonly field: string;
  /** Where the manifest says it, when its form names it differently. */
  readonly source?: string;
  readonly type: ProblemType;
  /** The API's own words; may be empty. */
  readonly detail: string;
  /** What to write instead. */
  readonly fix: string;
}

/** Something that is accepted but is probably not meant. */
export interface Warning {
  readonly field: string;
  readonly message: string;
  readonly fix?: string;
  /** For an unknown field: the path of the known one that was probably meant. */
  readonly meant?: string;
  /** The problem that this is under strict validation. */
  readonly refusal?: Pick<Problem, "type" | "detail" | "fix">;
}

export const required = (field: string, detail: string, fix: string): Problem => ({ field, type: "FieldValueRequired", detail, fix });

export const invalid = (field: string, detail: string, fix: string): Problem => ({ field, type: "FieldValueInvalid", detail, fix });

export const forbidden = (field: string, detail: string, fix: string): Problem => ({ field, type: "FieldValueForbidden", detail, fix });

/** A value outside a closed set; the values are listed in alphabetical order, as the API does. */
export const notSupported = (field: string, supported: readonly string[]): Problem => ({
  field,
  type: "FieldValueNotSupported",
  detail: `supported values: ${quotedList(supported)}`,
  fix: `write one of ${quotedList(supported)}`,
});

/** A value of another JSON type than the field has: the API would not even decode the object. */
export const wrongType = (field: string, wanted: string, met: unknown): Problem => ({
  field,
  type: "FieldValueTypeInvalid",
  detail: `must be ${wanted}, not ${shown(met)}`,
  fix: `write ${wanted}`,
});

export const quotedList = (values: readonly string[]): string =>
  [...values]
    .sort()
    .map((value) => `"${value}"`)
    .join(", ");

/** Patterns and examples that the API adds to its words; a person has the fix instead. */
const EXAMPLES = / \(e\.g\. .*$/;

/** One problem as a clause: "spec.maxReplicas is required". */
export const clauseOf = (problem: Problem): string => {
  const { field, source, type } = problem;
  const detail = problem.detail.replace(EXAMPLES, "");
  const place = `${field || "the manifest"}${source === undefined ? "" : ` (here ${source})`}`;
  if (type === "FieldValueRequired" && detail === "") return `${place} is required`;
  if (type === "FieldValueNotSupported") return `${place} has none of the ${detail}`;
  return detail.startsWith("must") || detail.startsWith("may") ? `${place} ${detail}` : `${place}: ${detail}`;
};

/** Problems of one manifest that are told one by one. More of them do not help its author. */
export const MAX_TOLD = 50;

/** The problems to tell a person: of a field that is missing nothing more is said, and what comes above the limit is counted. */
export const toldProblems = <Some extends Problem>(problems: readonly Some[]): { readonly told: readonly Some[]; readonly more: number } => {
  const missing = new Set(problems.filter(({ type }) => type === "FieldValueRequired").map(({ field }) => field));
  const worthTelling = problems.filter(({ type, field }) => type === "FieldValueRequired" || !missing.has(field));
  return { told: worthTelling.slice(0, MAX_TOLD), more: Math.max(0, worthTelling.length - MAX_TOLD) };
};

const LONGEST_SHOWN = 40;

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  return `"${value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value}"`;
};
