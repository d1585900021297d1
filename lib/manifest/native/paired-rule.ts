import type { Json } from "../../fields/json.ts";
import type { Problem } from "../../fields/problem.ts";
import type { ServerRule } from "../../fields/field-types.ts";
import type { SpecRead } from "./spec-fields.ts";

/** One rule between the fields of an object: a condition of the JSON Schema for editors, the rule for the API server of a cluster (`tidemark crd`), and the problems for people. */
export interface Rule<Value> extends ServerRule {
  /** The problems of a value that breaks the rule. */
  readonly problems: (value: Value, context: RuleContext) => readonly Problem[];
}

export interface ManifestRead {
  readonly spec: SpecRead;
  /** The members of the spec in the document, without defaults. */
  readonly written: Json;
}

export interface RuleContext extends ManifestRead {
  /** Path of the value: "spec.metrics[0]". */
  readonly path: string;
}

/** The rules of the objects at one path of the manifest. */
export interface RulesAtPath {
  /** The path in the terms of `explain-schema`: "spec.metrics[]". */
  readonly path: string;
  readonly conditions: readonly Json[];
  readonly serverRules: readonly ServerRule[];
  readonly problems: (manifest: ManifestRead) => readonly Problem[];
}

/** An object and its path in this manifest. */
type Located<Value> = readonly [path: string, value: Value];

export const rulesAt = <Value>(
  path: string,
  rules: readonly Rule<Value>[],
  valuesIn: (spec: SpecRead) => readonly Located<Value>[],
): RulesAtPath => ({
  path,
  conditions: rules.flatMap(({ schema }) => (schema ? [schema] : [])),
  serverRules: rules.filter(({ says }) => says !== undefined),
  problems: (manifest) =>
    valuesIn(manifest.spec).flatMap(([at, value]) => rules.flatMap(({ problems }) => problems(value, { ...manifest, path: at }))),
});
