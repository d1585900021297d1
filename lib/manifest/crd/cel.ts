import type { FieldDescription } from "../../fields/field-types.ts";
import type { Json } from "../../fields/json.ts";
import { isObject } from "../../model/is-object.ts";
import { amountOf } from "../native/schema-conditions.ts";
import { fieldsOf } from "../native/explain-field.ts";

/**
 * A condition of the JSON Schema (native/schema-conditions.ts) as a CEL expression about the value `self`. The API server removes a null before it checks rules, so that a member which
 * is null is absent here too. Throws a RangeError for a keyword that no condition of ours has.
 */
export const celOf = (condition: Json, self: string, about: FieldDescription): string => {
  const { if: premise, [THEN]: consequence, else: otherwise, ...rest } = condition;
  const parts = Object.entries(rest).flatMap(([keyword, value]) => keywordCel({ keyword, value, self, about }));
  if (premise === undefined) return every(parts);
  const branch = (value: unknown): string => (value === undefined ? "true" : celOf(asJson(value), self, about));
  return every([...parts, ternary(branch(premise), branch(consequence), branch(otherwise))]);
};

const THEN = "then";

interface Keyword {
  readonly keyword: string;
  readonly value: unknown;
  readonly self: string;
  readonly about: FieldDescription;
}

const keywordCel = (node: Keyword): readonly string[] => {
  const write = WRITERS[node.keyword];
  if (!write) throw new RangeError(`no CEL for the keyword "${node.keyword}"`);
  return write(node);
};

type Writer = (node: Keyword) => readonly string[];

const asJson = (value: unknown): Json => {
  if (!isObject(value)) throw new RangeError(`a condition must be an object, not ${JSON.stringify(value)}`);
  return value;
};

const conditionsIn = ({ value, self, about }: Keyword): readonly string[] => (value as readonly Json[]).map((one) => celOf(one, self, about));

const namesIn = ({ value }: Keyword): readonly string[] => value as readonly string[];

/** One member: without a value every condition on it holds. */
const memberCel = (name: string, condition: Json, { self, about }: Keyword): readonly string[] => {
  const field = fieldsOf(about)[name];
  if (!field) throw new RangeError(`a condition names the field "${name}", which does not exist`);
  const holds = celOf(condition, memberOf(self, name), field);
  return holds === "true" ? [] : [some([`!${hasMember(self, name)}`, holds])];
};

const compared =
  (operator: string): Writer =>
  ({ value, self, about }) => [
    about.type === "quantity" ? `${amountOf(self)}.compareTo(quantity('${value}')) ${operator} 0` : `${self} ${operator} ${value}`,
  ];

/** An enumeration of a quantity holds the same amount in several writings, so its numbers are enough. */
const oneOf: Writer = ({ value, self, about }) => {
  const values = (value as readonly unknown[]).filter((one) => one !== null);
  if (about.type !== "quantity") return [`${self} in [${values.map(literal).join(", ")}]`];
  return [some(values.filter((one) => typeof one === "number").map((one) => `${amountOf(self)}.compareTo(quantity('${one}')) == 0`))];
};

const WRITERS: Readonly<Record<string, Writer>> = {
  $comment: () => [],
  // Other types are refused by the schema itself.
  type: ({ value }) => (value === "null" ? ["false"] : []),
  required: (node) => namesIn(node).map((name) => hasMember(node.self, name)),
  properties: (node) => Object.entries(asJson(node.value)).flatMap(([name, condition]) => memberCel(name, asJson(condition), node)),
  not: ({ value, self, about }) => [negated(celOf(asJson(value), self, about))],
  allOf: (node) => [every(conditionsIn(node))],
  anyOf: (node) => [some(conditionsIn(node))],
  oneOf: (node) => [`[${conditionsIn(node).join(", ")}].exists_one(holds, holds)`],
  const: ({ value, self }) => [`${self} == ${literal(value)}`],
  enum: oneOf,
  pattern: ({ value, self }) => [`${self}.matches(${literal(value)})`],
  minLength: ({ value, self }) => [`${self}.size() >= ${value}`],
  minItems: ({ value, self }) => [`${self}.size() >= ${value}`],
  maxItems: ({ value, self }) => [`${self}.size() <= ${value}`],
  contains: ({ value, self, about }) => [`${self}.exists(item, ${celOf(asJson(value), "item", about.items ?? about)})`],
  minimum: compared(">="),
  exclusiveMinimum: compared(">"),
  maximum: compared("<="),
  // Every condition of ours asks for multiples of one.
  multipleOf: ({ self }) => [`${amountOf(self)}.isInteger()`],
};

/** A word that CEL reserves has underscores around it. */
const RESERVED: ReadonlySet<string> = new Set(["namespace"]);
const memberOf = (self: string, name: string): string => `${self}.${RESERVED.has(name) ? `__${name}__` : name}`;
const hasMember = (self: string, name: string): string => `has(${memberOf(self, name)})`;

const literal = (value: unknown): string =>
  typeof value === "string" ? `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'` : String(value);

const negated = (expression: string): string => {
  if (expression === "false") return "true";
  if (expression === "true") return "false";
  return `!(${expression})`;
};

const joined = (operator: " && " | " || ", parts: readonly string[]): string =>
  parts.length === 1 ? (parts[0] ?? "") : parts.map((part) => (part.includes(" ") ? `(${part})` : part)).join(operator);

const every = (parts: readonly string[]): string => {
  const needed = parts.filter((part) => part !== "true");
  if (needed.includes("false")) return "false";
  return needed.length === 0 ? "true" : joined(" && ", needed);
};

const some = (parts: readonly string[]): string => {
  const possible = parts.filter((part) => part !== "false");
  if (possible.includes("true")) return "true";
  return possible.length === 0 ? "false" : joined(" || ", possible);
};

const ternary = (premise: string, consequence: string, otherwise: string): string => {
  if (otherwise === "true") return some([negated(premise), consequence]);
  if (consequence === "true") return some([premise, otherwise]);
  return `${premise} ? ${consequence} : ${otherwise}`;
};
