import { group, type ReadOf, words } from "../fields/field-types.ts";
import { invalidField, type Problem } from "../fields/problem.ts";
import type { MetricQuery } from "../model/query.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import { type Expression, formulaValue } from "./expression.ts";
import { EXPRESSION_LIMITS, readExpression } from "./read-expression.ts";
import { failure, type MetricSource, NOT_ASKED, roundedMilli } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Formula: { readonly expression: string; readonly root: Expression };
  }
}

const FIELDS = {
  expression: words(
    "A calculation with the names of other metrics: queue + 2 * max(rate, 10). Docs: docs/sources.md.",
    {
      required: true,
      mostCharacters: EXPRESSION_LIMITS.characters,
      lines: true,
    },
  ),
};

/** Only the reader of expressions says where one cannot be read. */
const problems = (
  { expression = "" }: { readonly expression?: string | undefined },
  path: string,
): readonly Problem[] => {
  const reading = expression === "" ? undefined : readExpression(expression);
  if (reading?.kind !== "refused") return [];
  const detail = `cannot be read at character ${reading.at}: ${reading.message}`;
  return [
    invalidField(
      `${path}.expression`,
      detail,
      "docs/sources.md has the operators and the functions",
    ),
  ];
};

/**
 * A formula that cannot be read is refused with its manifest. On doubt, a missing metric: no number
 * is finite here.
 */
const NO_NUMBER: Expression = { kind: "number", value: Number.NaN };

/** A formula as a name that people read. */
const onOneLine = (expression: string): string => expression.trim().replace(/\s+/g, " ");

const rootOf = (expression: string): Expression => {
  const reading = readExpression(expression);
  return reading.kind === "expression" ? reading.root : NO_NUMBER;
};

/**
 * A calculation with the values of other metrics of the same autoscaler. It asks nothing itself.
 */
export const FORMULA: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Formula">,
  MetricQuery,
  readonly bigint[]
> = {
  type: "Formula",
  field: group("A calculation with the values of other metrics of this manifest.", FIELDS),
  problems,
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: ({ expression = "" }) => ({ type: "Formula", expression, root: rootOf(expression) }),
  namedBy: [],
  nameOf: ({ expression }) => `formula ${onOneLine(expression)}`,
  queryOf: () => undefined,
  asking: { way: "none" },
  samples: ({ root }, { inputs }) => {
    if (!inputs) return failure(NOT_ASKED);
    const value = formulaValue(root, inputs);
    if (typeof value !== "number") return value;
    const milli = roundedMilli(value);
    return milli === undefined
      ? failure("the formula gives no number, or one that is too large")
      : [milli];
  },
  statusOf: ({ expression }, current) => ({
    type: "Formula",
    formula: { expression: onOneLine(expression), current },
  }),
};
