import { TidemarkError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import type { Operand, Operator, Step } from "./json-path.ts";
import type { Part } from "./template.ts";

/** Prints a document as a template of `-o jsonpath=` says. A field that does not exist prints nothing, as with kubectl. Throws `cli.jsonpath` for a step that the value cannot take. */
export const printTemplate = (parts: readonly Part[], document: unknown): string => parts.map((part) => partText(part, document)).join("");

const partText = (part: Part, value: unknown): string => {
  switch (part.kind) {
    case "text":
      return part.text;
    case "path":
      return resultsOf(part.steps, value).map(valueText).join(" ");
    case "range":
      return resultsOf(part.steps, value)
        .map((each) => printTemplate(part.body, each))
        .join("");
  }
};

/** What a path gives of a value. */
export const resultsOf = (steps: readonly Step[], value: unknown): readonly unknown[] =>
  steps.reduce<readonly unknown[]>((values, step) => values.flatMap((each) => after(step, each)), [value]);

const after = (step: Step, value: unknown): readonly unknown[] => {
  switch (step.kind) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "all":
      return step.of === "list" ? listIn(value, "[*]") : childrenOf(value);
    case "below":
      return below(value);
    case "slice":
      return sliceOf(listIn(value, "an index"), step);
    case "union":
      return step.members.flatMap((member) => after(member, value));
    case "filter":
      return listIn(value, "a filter").filter((each) => passes(step, each));
  }
};

const childrenOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
};

/** The value and every object and list below it. */
const below = (value: unknown): readonly unknown[] =>
  Array.isArray(value) || isObject(value) ? [value, ...childrenOf(value).flatMap((child) => below(child))] : [];

const failed = (problem: string): TidemarkError => new TidemarkError("cli.jsonpath", `Cannot print -o jsonpath: ${problem}`, {});

const listIn = (value: unknown, step: string): readonly unknown[] => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw failed(`${step} needs a list, and there is ${isObject(value) ? "an object" : JSON.stringify(value)}`);
};

const sliceOf = (list: readonly unknown[], { from = 0, to = list.length, every }: Extract<Step, { readonly kind: "slice" }>): readonly unknown[] => {
  const start = from < 0 ? from + list.length : from;
  const end = to < 0 ? to + list.length : to;
  if (start === end) return [];
  const last = end > start ? end - 1 : start;
  for (const index of [start, last]) if (index < 0 || index >= list.length) throw failed(`index ${index} is outside of a list of ${list.length}`);
  if (start > end) throw failed(`the slice begins at ${start} and ends at ${end}`);
  return list.slice(start, end).filter((_, index) => index % every === 0);
};

const passes = ({ left, test }: Extract<Step, { readonly kind: "filter" }>, value: unknown): boolean => {
  const lefts = operandValues(left, value);
  if (!test) return lefts.length > 0;
  const rights = operandValues(test.right, value);
  // A field that does not exist is neither equal nor unequal.
  return lefts.length > 0 && rights.length > 0 && compares(lefts[0], test.operator, rights[0]);
};

const operandValues = (operand: Operand, value: unknown): readonly unknown[] =>
  "steps" in operand ? resultsOf(operand.steps, value) : [operand.value];

const compares = (left: unknown, operator: Operator, right: unknown): boolean => {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const comparable = (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!comparable) throw failed(`${JSON.stringify(left)} ${operator} ${JSON.stringify(right)} compares different types`);
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
};

/** A result as kubectl prints it. */
export const valueText = (value: unknown): string => (typeof value === "string" ? value : inGo(JSON.stringify(sorted(value))));

/** As Go prints JSON: members in order of name, and the characters of HTML escaped. */
const inGo = (json: string): string => json.replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};
