import { type Json, present } from "../../fields/json.ts";

/** Conditions between fields of one object in JSON Schema. Null means absent, as everywhere. */
export const isSet = (name: string): Json => ({ required: [name], properties: { [name]: { not: { type: "null" } } } });

export const areAbsent = (...names: readonly string[]): Json => ({
  properties: Object.fromEntries(names.map((name) => [name, { type: "null" }])),
});

export const equals = (name: string, value: string | boolean): Json => ({ required: [name], properties: { [name]: { const: value } } });

export const anyOf = (...cases: readonly Json[]): Json => ({ anyOf: cases });

export const allOf = (...conditions: readonly Json[]): Json => ({ allOf: conditions });

export const exactlyOneSet = (...names: readonly string[]): Json => ({ oneOf: names.map(isSet) });

/** The condition with the words that an API server answers where it does not hold (`tidemark crd`). */
export const inWords = (words: string, condition: Json): Json => ({ $comment: words, ...condition });

const THEN = "then";

export const ifThen = (condition: Json, consequence: Json, otherwise?: Json): Json =>
  present({ if: condition, [THEN]: consequence, else: otherwise });

export const ifNot = (condition: Json, consequence: Json): Json => ({ if: condition, else: consequence });

/** Conditions on the values of members that are present. */
export const members = (properties: Json): Json => ({ properties });

/** The amount of a quantity in CEL. The API server of a cluster gives a rule the whole number or the text. */
export const amountOf = (self: string): string => `(type(${self}) == int ? quantity(string(${self})) : quantity(${self}))`;

/** True in CEL where one quantity is not above the other. */
export const notAbove = (low: string, high: string): string => `${amountOf(low)}.compareTo(${amountOf(high)}) <= 0`;
