import type { ProblemType } from "./problem.ts";

/**
 * What fields of one object ask of each other, as data. A rule is written once: evaluate.ts finds
 * its problems, and it is printed as a condition of the JSON Schema (native/rule-schema.ts), as CEL
 * for the API server of a cluster (crd/cel.ts), and as a sentence (rule-text.ts). A field is a path
 * such as "watermarks.low"; an empty text is absent.
 */
export interface Rule {
  /** The rule is about objects for which this holds. */
  readonly when?: RuleCondition;
  readonly needs: RuleCondition;
  /**
   * The field of the problem, where the condition names none or another one; empty for the object
   * itself.
   */
  readonly at?: string;
  /** Kind of the problem, where it does not follow from the condition. */
  readonly type?: ProblemType;
  /**
   * What is wrong and what to write. `{minReplicas}` stands for the value of a field, `{=room}` for
   * a term of `terms` and its value, `{given}` for the field by which the rule applies.
   */
  readonly detail: string;
  readonly fix: string;
  readonly terms?: Readonly<Record<string, Term>>;
  /** The whole rule as a sentence, where it is not made from its parts. */
  readonly says?: string;
  /**
   * The rules that report the problem in the words of another form's API, where its parts have
   * different words.
   */
  readonly parts?: readonly Rule[];
  /** True where the code of another form reports the problem, in the words of its own API. */
  readonly reportedElsewhere?: true;
}

type Value = string | number | boolean;
export type Sign = "<" | "<=" | ">" | ">=";

export const isInOrder = <Some extends bigint | number | string>(
  one: Some,
  sign: Sign,
  other: Some,
): boolean => {
  switch (sign) {
    case "<":
      return one < other;
    case "<=":
      return one <= other;
    case ">":
      return one > other;
    case ">=":
      return one >= other;
  }
};

/** A number: as it is, of a field, of a field of the object that holds the list, or calculated. */
export type Term =
  | number
  | string
  | { readonly kind: "outer"; readonly field: string }
  | { readonly kind: "difference" | "larger"; readonly of: readonly [Term, Term] }
  | { readonly kind: "times"; readonly factor: number; readonly of: Term };

/** A condition on an absent field without a default holds, but for `set`, `is` and `some`. */
export type RuleCondition =
  | { readonly kind: "set"; readonly field: string }
  | { readonly kind: "unset" | "atMostOne"; readonly fields: readonly string[] }
  | { readonly kind: "is"; readonly field: string; readonly values: readonly Value[] }
  | { readonly kind: "compared"; readonly field: string; readonly sign: Sign; readonly term: Term }
  | { readonly kind: "multiple"; readonly field: string; readonly of: number }
  | { readonly kind: "matches"; readonly field: string; readonly pattern: string }
  /** Characters of a text, or items of a list. */
  | {
      readonly kind: "length";
      readonly field: string;
      readonly least: number;
      readonly most?: number;
    }
  | { readonly kind: "not"; readonly of: RuleCondition }
  | { readonly kind: "all" | "any"; readonly of: readonly RuleCondition[] }
  | { readonly kind: "some" | "each"; readonly field: string; readonly item: RuleCondition }
  /**
   * The name of an item is the first of these fields that is set; `{ set }` names an item by the
   * field itself.
   */
  | { readonly kind: "unique"; readonly field: string; readonly by: readonly NamePart[] };

/** A condition on the value of one field. */
export type ValueCondition = Extract<
  RuleCondition,
  { readonly kind: "is" | "compared" | "multiple" | "matches" | "length" }
>;

export type NamePart = string | { readonly set: string };

export const isSet = (field: string): RuleCondition => ({ kind: "set", field });
export const unset = (...fields: readonly string[]): RuleCondition => ({ kind: "unset", fields });
export const atMostOne = (...fields: readonly string[]): RuleCondition => ({
  kind: "atMostOne",
  fields,
});
export const is = (field: string, ...values: readonly Value[]): RuleCondition => ({
  kind: "is",
  field,
  values,
});
export const atLeast = (field: string, term: Term): RuleCondition => ({
  kind: "compared",
  field,
  sign: ">=",
  term,
});
export const atMost = (field: string, term: Term): RuleCondition => ({
  kind: "compared",
  field,
  sign: "<=",
  term,
});
export const above = (field: string, term: Term): RuleCondition => ({
  kind: "compared",
  field,
  sign: ">",
  term,
});
export const below = (field: string, term: Term): RuleCondition => ({
  kind: "compared",
  field,
  sign: "<",
  term,
});
export const multipleOf = (field: string, of: number): RuleCondition => ({
  kind: "multiple",
  field,
  of,
});
export const matches = (field: string, pattern: string): RuleCondition => ({
  kind: "matches",
  field,
  pattern,
});
export const length = (field: string, least: number, most?: number): RuleCondition => ({
  kind: "length",
  field,
  least,
  ...(most !== undefined && { most }),
});
export const not = (of: RuleCondition): RuleCondition => ({ kind: "not", of });
export const all = (...of: readonly RuleCondition[]): RuleCondition => ({ kind: "all", of });
export const any = (...of: readonly RuleCondition[]): RuleCondition => ({ kind: "any", of });
export const some = (field: string, item: RuleCondition): RuleCondition => ({
  kind: "some",
  field,
  item,
});
export const each = (field: string, item: RuleCondition): RuleCondition => ({
  kind: "each",
  field,
  item,
});
export const unique = (field: string, ...by: readonly NamePart[]): RuleCondition => ({
  kind: "unique",
  field,
  by,
});

export const outer = (field: string): Term => ({ kind: "outer", field });
export const difference = (one: Term, other: Term): Term => ({
  kind: "difference",
  of: [one, other],
});
export const larger = (one: Term, other: Term): Term => ({ kind: "larger", of: [one, other] });
export const times = (factor: number, of: Term): Term => ({ kind: "times", factor, of });
