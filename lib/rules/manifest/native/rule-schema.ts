import type { FieldDescription } from "../../fields/field-types.ts";
import type { Json } from "../../model/json.ts";
import type { RuleCondition, Rule, Sign } from "../../fields/rule.ts";
import { ruleText } from "../../fields/rule-text.ts";
import { fieldAt } from "./explain-field.ts";

/**
 * A rule as a condition of the JSON Schema of its object; `undefined` where JSON Schema cannot say
 * it: it compares no two fields. Null means absent, as everywhere.
 */
export const ruleSchema = (rule: Rule, about: FieldDescription): Json | undefined => {
  const needs = schemaOf(rule.needs, about);
  if (needs === undefined) return undefined;
  const $comment = ruleText(rule);
  if (rule.when === undefined) return { $comment, ...needs };
  const isNegated = rule.when.kind === "not";
  const premise = schemaOf(rule.when.kind === "not" ? rule.when.of : rule.when, about);
  return premise && { $comment, if: premise, [isNegated ? "else" : THEN]: needs };
};

const THEN = "then";
const NULL = { type: "null" };

const schemaOf = (condition: RuleCondition, about: FieldDescription): Json | undefined => {
  switch (condition.kind) {
    case "all":
    case "any":
      return composed(condition.kind === "all" ? "allOf" : "anyOf", condition.of, about);
    case "not":
      return wrapped("not", schemaOf(condition.of, about));
    case "set":
      return isSet(condition.field, about);
    case "unset":
      return areAbsent(condition.fields, about);
    case "atMostOne":
      return {
        oneOf: [
          ...condition.fields.map((field) => isSet(field, about)),
          areAbsent(condition.fields, about),
        ],
      };
    case "is":
      return isOneOf(condition, about);
    case "compared":
      return typeof condition.term === "number"
        ? bounded(condition.field, about, BOUNDS[condition.sign](condition.term))
        : undefined;
    case "multiple":
      return bounded(condition.field, about, { multipleOf: condition.of });
    case "matches":
      return within(condition.field, {
        pattern: patternOf(condition.pattern, fieldAt(about, condition.field)),
      });
    case "length":
      return lengthSchema(condition, about);
    case "some": {
      const item = schemaOf(condition.item, fieldAt(about, condition.field));
      return item && needing(condition.field, { type: "array", contains: item });
    }
    case "each": {
      const item = schemaOf(condition.item, fieldAt(about, condition.field));
      return item && within(condition.field, { items: item });
    }
    case "unique":
      return undefined;
  }
};

const composed = (
  keyword: "allOf" | "anyOf",
  conditions: readonly RuleCondition[],
  about: FieldDescription,
): Json | undefined => {
  const schemas = conditions.map((one) => schemaOf(one, about));
  return schemas.includes(undefined) ? undefined : { [keyword]: schemas };
};

const wrapped = (keyword: string, schema: Json | undefined): Json | undefined =>
  schema && { [keyword]: schema };

/** A condition on a field that may be absent. */
const within = (path: string, schema: Json): Json =>
  path.split(".").reduceRight<Json>((inner, name) => ({ properties: { [name]: inner } }), schema);

/** A condition on a field that must be there. */
const needing = (path: string, schema: Json): Json => {
  const [name = "", ...rest] = path.split(".");
  return {
    required: [name],
    properties: {
      [name]: rest.length === 0 ? schema : { type: "object", ...needing(rest.join("."), schema) },
    },
  };
};

/** An absent text and an empty one are the same. */
const EMPTY_TEXT = { enum: [null, ""] };
const absence = (field: string, about: FieldDescription): Json =>
  fieldAt(about, field).type === "text" ? EMPTY_TEXT : NULL;

const isSet = (field: string, about: FieldDescription): Json =>
  needing(field, { not: absence(field, about) });

const areAbsent = (fields: readonly string[], about: FieldDescription): Json => {
  const schemas = fields.map((field) => within(field, absence(field, about)));
  const isFlat = fields.every((field) => !field.includes("."));
  return isFlat
    ? { properties: Object.fromEntries(fields.map((field) => [field, absence(field, about)])) }
    : { allOf: schemas };
};

/** A default is a value too: a field that is absent has it. */
const isOneOf = (
  { field, values }: Extract<RuleCondition, { readonly kind: "is" }>,
  about: FieldDescription,
): Json => {
  const { default: filled } = fieldAt(about, field);
  const [first, ...more] = values;
  if (filled !== undefined && values.some((value) => value === filled))
    return within(field, { enum: [...values, null] });
  return needing(field, more.length === 0 ? { const: first } : { enum: values });
};

const BOUNDS: Readonly<Record<Sign, (bound: number) => Json>> = {
  "<": (bound) => ({ exclusiveMaximum: bound }),
  "<=": (bound) => ({ maximum: bound }),
  ">": (bound) => ({ exclusiveMinimum: bound }),
  ">=": (bound) => ({ minimum: bound }),
};

/**
 * A default is within the bounds of its field; a rule that its own default breaks cannot be
 * printed.
 */
const bounded = (field: string, about: FieldDescription, bounds: Json): Json => {
  fieldAt(about, field);
  return within(field, bounds);
};

/** A list whose default is too short must be written. */
const lengthSchema = (
  { field, least, most }: Extract<RuleCondition, { readonly kind: "length" }>,
  about: FieldDescription,
): Json => {
  const { type, default: filled } = fieldAt(about, field);
  if (type === "text")
    return within(field, {
      ...(least > 0 && { minLength: least }),
      ...(most !== undefined && { maxLength: most }),
    });
  const bounds = {
    ...(least > 0 && { minItems: least }),
    ...(most !== undefined && { maxItems: most }),
  };
  return isTooShort(filled, least)
    ? needing(field, { type: "array", ...bounds })
    : within(field, bounds);
};

/** True of the default of a list that has fewer items than a rule asks for. */
export const isTooShort = (filled: unknown, least: number): boolean =>
  Array.isArray(filled) && filled.length < least;

/** A text that is not required may be empty, which means absent. */
export const patternOf = (pattern: string, { required }: FieldDescription): string =>
  required ? pattern : `^$|${pattern}`;
