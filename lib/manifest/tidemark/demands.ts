import { type Json, present } from "../json.ts";

/** What fields of one object ask of each other, in the words of JSON Schema; validate.ts says the same to people. Null counts as absent, as everywhere. */
export const given = (name: string): Json => ({ required: [name], properties: { [name]: { not: { type: "null" } } } });

export const absent = (...names: readonly string[]): Json => ({
  properties: Object.fromEntries(names.map((name) => [name, { type: "null" }])),
});

export const says = (name: string, value: string): Json => ({ required: [name], properties: { [name]: { const: value } } });

export const either = (...cases: readonly Json[]): Json => ({ anyOf: cases });

export const all = (...demands: readonly Json[]): Json => ({ allOf: demands });

export const exactlyOne = (...names: readonly string[]): Json => ({ oneOf: names.map(given) });

const THEN = "then";

export const when = (condition: Json, consequence: Json, otherwise?: Json): Json => present({ if: condition, [THEN]: consequence, else: otherwise });

export const unless = (condition: Json, consequence: Json): Json => ({ if: condition, else: consequence });

/** What is asked of the values of fields that are there. */
export const values = (properties: Json): Json => ({ properties });
