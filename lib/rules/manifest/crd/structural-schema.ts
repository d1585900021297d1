import type { FieldDescription } from "../../fields/field-types.ts";
import { type Json, present } from "../../model/json.ts";
import type { ProblemType } from "../../fields/problem.ts";
import type { RuleCondition, Rule } from "../../fields/rule.ts";
import { fieldsOfCondition, ruleText } from "../../fields/rule-text.ts";
import { memberPath } from "../native/explain-field.ts";
import { rulesAt } from "../native/rule-table.ts";
import {
  NOT_NEGATIVE_QUANTITY,
  POSITIVE_QUANTITY,
  printablePattern,
  QUANTITY_PATTERN,
  SEGMENT,
} from "../native/field-descriptions.ts";
import { amountOf, ruleCel } from "./cel.ts";

/**
 * Bounds of lists and texts. The API server estimates what a rule costs from them, and refuses a
 * definition without them.
 */
export const MOST_ITEMS = 50;
export const MOST_MEMBERS = 100;
export const MOST_CHARACTERS = 512;
export const MOST_QUANTITY_CHARACTERS = 64;

const INT32 = 2 ** 31;

/**
 * The structural schema of the field at a path, from its description. The API server writes no
 * default: an absent field reads back as absent, and its default is in its description. A null is
 * removed by the server, as everywhere here.
 */
export const structuralSchema = (path: string, about: FieldDescription): Json => {
  const description = meaningOf(about);
  switch (about.type) {
    case "integer":
      return {
        type: "integer",
        minimum: about.least ?? -INT32,
        maximum: about.most ?? INT32 - 1,
        description,
      };
    case "quantity":
      return quantitySchema(about, description);
    case "text":
      return present({
        type: "string",
        minLength: about.required ? 1 : undefined,
        maxLength: Math.min(MOST_CHARACTERS, about.mostCharacters ?? MOST_CHARACTERS),
        ...patternsOf(about),
        description,
      });
    case "time":
      return {
        type: "string",
        maxLength: MOST_QUANTITY_CHARACTERS,
        "x-kubernetes-validations": [TIME],
        description,
      };
    case "flag":
      return { type: "boolean", description };
    case "choice":
      return {
        type: "string",
        maxLength: MOST_QUANTITY_CHARACTERS,
        enum: about.choices,
        description,
      };
    case "texts":
      return {
        type: "object",
        maxProperties: MOST_MEMBERS,
        additionalProperties: {
          type: "string",
          maxLength: MOST_CHARACTERS,
          pattern: printablePattern(about),
        },
        description,
      };
    case "list":
      return present({
        type: "array",
        minItems: about.leastItems,
        maxItems: about.mostItems ?? MOST_ITEMS,
        "x-kubernetes-list-type": about.key && "map",
        "x-kubernetes-list-map-keys": about.key && [about.key],
        items: about.items && structuralSchema(path, about.items),
        description,
      });
    case "object":
      return objectSchema(path, about, description);
    case "anything":
      return { "x-kubernetes-preserve-unknown-fields": true, description };
  }
};

const meaningOf = ({ meaning, default: value }: FieldDescription): string =>
  value === undefined
    ? meaning
    : `${meaning} Default: ${typeof value === "string" ? value : JSON.stringify(value)}.`;

/** Each text is printable, and some have a form too. */
const patternsOf = (about: FieldDescription): Json => {
  const form = patternOf(about);
  return form === undefined
    ? { pattern: printablePattern(about) }
    : { pattern: form, allOf: [{ pattern: printablePattern(about) }] };
};

/** An absent text and an empty one are the same where the field is not required. */
const patternOf = ({
  segment,
  pattern,
  form,
  required,
  default: filled,
}: FieldDescription): string | undefined => {
  const wanted = segment ? SEGMENT : (form?.pattern ?? pattern);
  return wanted === undefined || required || filled !== undefined ? wanted : `^$|${wanted}`;
};

/** The text form of the pattern in time-text.ts, which the server also reads as a time. */
const TIME = {
  rule: "self.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') && timestamp(self) > timestamp('0001-01-01T00:00:00Z')",
  message: "must be an RFC 3339 time, such as 2030-01-31T08:00:00Z",
};

const quantitySchema = ({ least, most }: FieldDescription, description: string): Json => {
  const pattern =
    least === undefined ? QUANTITY_PATTERN : least > 0 ? POSITIVE_QUANTITY : NOT_NEGATIVE_QUANTITY;
  const atMost = {
    rule: `${amountOf("self")}.compareTo(quantity('${most}')) <= 0`,
    message: `must be less than or equal to ${most}`,
  };
  return present({
    "x-kubernetes-int-or-string": true,
    maxLength: MOST_QUANTITY_CHARACTERS,
    pattern,
    minimum: least === undefined ? undefined : Math.ceil(least),
    "x-kubernetes-validations": most === undefined ? undefined : [atMost],
    description: `${description} Quote a fraction: "0.5".`,
  });
};

const objectSchema = (path: string, about: FieldDescription, description: string): Json => {
  const { fields = {} } = about;
  const required = Object.entries(fields).flatMap(([name, field]) =>
    field.required ? [name] : [],
  );
  const rules = rulesOf(path, about);
  return present({
    type: "object",
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        structuralSchema(memberPath(path, name, field), field),
      ]),
    ),
    required: required.length > 0 ? required : undefined,
    "x-kubernetes-validations": rules.length > 0 ? rules : undefined,
    description,
  });
};

const rulesOf = (path: string, about: FieldDescription): readonly Json[] =>
  (about.rules ?? rulesAt(path)).map((rule) => ({
    rule: ruleCel(rule, about),
    message: ruleText(rule),
    ...problemOf(rule),
  }));

/**
 * The server names the field of the problem, and its kind, as `tidemark apply` does, where a rule
 * is about one field of its object.
 */
const problemOf = (rule: Rule): Json => {
  if (rule.reportedElsewhere || rule.parts) return {};
  const [field, ...more] = rule.at === undefined ? fieldsOfCondition(rule.needs) : [rule.at];
  if (!field || more.length > 0 || field.includes("[]")) return {};
  const reason = rule.type ?? KINDS[rule.needs.kind];
  return present({
    fieldPath: `.${field}`,
    reason:
      reason === "FieldValueRequired" || reason === "FieldValueForbidden" ? reason : undefined,
  });
};

const KINDS: Readonly<Partial<Record<RuleCondition["kind"], ProblemType>>> = {
  set: "FieldValueRequired",
  unset: "FieldValueForbidden",
  atMostOne: "FieldValueForbidden",
};
