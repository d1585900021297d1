import { usage } from "../usage-error.ts";
import {
  parseTemplate,
  type TemplatePart,
  parsePath,
  type Step,
  type Operand,
  type Operator,
} from "./template.ts";
import { isInOrder } from "../../rules/fields/rule.ts";
import { isObject } from "../../rules/model/json.ts";
import { TidemarkError } from "../../rules/model/errors.ts";

const PATH_PREFIX = "jsonpath=";
const COLUMNS_PREFIX = "custom-columns=";

/** The value of `-o jsonpath=TEMPLATE` or `-o custom-columns=HEADER:PATH,…`. */
export type TemplateFormat = `${typeof PATH_PREFIX}${string}` | `${typeof COLUMNS_PREFIX}${string}`;

export const isTemplate = (format: string): format is TemplateFormat =>
  format.startsWith(PATH_PREFIX) || format.startsWith(COLUMNS_PREFIX);

/** Throws a usage error for a template that cannot be read. */
export const templateOf = (
  format: TemplateFormat,
): { readonly parts: readonly TemplatePart[] } | { readonly columns: readonly Column[] } =>
  format.startsWith(PATH_PREFIX)
    ? { parts: parseTemplate(format.slice(PATH_PREFIX.length)) }
    : { columns: readColumns(format.slice(COLUMNS_PREFIX.length)) };

/** A document as the template says. `hasHeaders`: of custom columns, false for --no-headers. */
export const templateText = (
  format: TemplateFormat,
  document: unknown,
  hasHeaders: boolean,
): string => {
  const template = templateOf(format);
  return "parts" in template
    ? printTemplate(template.parts, document)
    : columnsText(template.columns, document, hasHeaders);
};

/**
 * The columns of a file of `-o custom-columns-file=`: the headers in the first line, the paths in
 * the second.
 */
export const columnsOfLines = (content: string): TemplateFormat => {
  const [headers = [], paths = []] = content
    .split("\n")
    .map((row) => row.split(/\s+/).filter((word) => word !== ""));
  if (headers.length === 0 || headers.length !== paths.length)
    throw usage(
      `Cannot read the columns of the file: it has ${headers.length} headers in its first line and ${paths.length} paths in its second`,
    );
  return `${COLUMNS_PREFIX}${headers.map((header, at) => `${header}:${paths[at]}`).join(",")}`;
};

/** A column of `-o custom-columns=`. */
interface Column {
  readonly header: string;
  readonly steps: readonly Step[];
}

/** What kubectl prints for a field that does not exist. */
const NONE = "<none>";
const GAP = "   ";

const unreadable = (words: string, problem: string) =>
  usage(
    `Cannot read -o custom-columns="${words}": ${problem}; write for example -o custom-columns=NAME:.metadata.name,MAX:.spec.maxReplicas`,
  );

/**
 * Reads "NAME:.metadata.name,MAX:.spec.maxReplicas" as kubectl does: the braces and the first point
 * of a path may be left out. Throws a usage error.
 */
export const readColumns = (words: string): readonly Column[] => {
  // A comma inside brackets belongs to its path.
  return words.split(/,(?![^[]*\])/).map((word): Column => {
    const [header = "", ...path] = word.split(":");
    if (header === "" || path.join(":") === "")
      throw unreadable(words, `"${word}" is no HEADER:PATH`);
    const bare = path
      .join(":")
      .trim()
      .replace(/^\{(.*)\}$/s, "$1");
    return {
      header,
      steps: parsePath(/^[.[@$]/.test(bare) ? bare : `.${bare}`, (problem) =>
        unreadable(words, problem),
      ),
    };
  });
};

/**
 * A row for each item of a list, or one for a document. Several results of a path stand behind
 * commas.
 */
export const columnsText = (
  columns: readonly Column[],
  document: unknown,
  hasHeaders: boolean,
): string => {
  const items =
    isObject(document) && document["kind"] === "List" && Array.isArray(document["items"])
      ? document["items"]
      : [document];
  const rows = items.map((item: unknown) =>
    columns.map(({ steps }) => cellText(resultsOf(steps, item))),
  );
  const all = hasHeaders ? [columns.map(({ header }) => header), ...rows] : rows;
  const widths = columns.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(GAP);
  return all.map((row) => `${lineOf(row).trimEnd()}\n`).join("");
};

const cellText = (values: readonly unknown[]): string => {
  const cells = values
    .filter((value) => value !== null)
    .map((value) => valueText(value).replaceAll(/\s+/g, " "));
  return cells.length === 0 ? NONE : cells.join(",");
};

/**
 * Prints a document as a template of `-o jsonpath=` says. A field that does not exist prints
 * nothing, as with kubectl. Throws `cli.jsonpath` for a step that the value cannot take.
 */
export const printTemplate = (parts: readonly TemplatePart[], document: unknown): string =>
  parts.map((part) => partText(part, document)).join("");

const partText = (part: TemplatePart, value: unknown): string => {
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
const resultsOf = (steps: readonly Step[], value: unknown): readonly unknown[] =>
  steps.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((each) => after(step, each)),
    [value],
  );

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
  Array.isArray(value) || isObject(value)
    ? [value, ...childrenOf(value).flatMap((child) => below(child))]
    : [];

const failed = (problem: string): TidemarkError =>
  new TidemarkError("cli.jsonpath", `Cannot print -o jsonpath: ${problem}`, {});

const listIn = (value: unknown, step: string): readonly unknown[] => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw failed(
    `${step} needs a list, and there is ${isObject(value) ? "an object" : JSON.stringify(value)}`,
  );
};

const sliceOf = (
  list: readonly unknown[],
  { from = 0, to = list.length, every }: Extract<Step, { readonly kind: "slice" }>,
): readonly unknown[] => {
  const start = from < 0 ? from + list.length : from;
  const end = to < 0 ? to + list.length : to;
  if (start === end) return [];
  const last = end > start ? end - 1 : start;
  for (const index of [start, last])
    if (index < 0 || index >= list.length)
      throw failed(`index ${index} is outside of a list of ${list.length}`);
  if (start > end) throw failed(`the slice begins at ${start} and ends at ${end}`);
  return list.slice(start, end).filter((_, index) => index % every === 0);
};

const passes = (
  { left, test }: Extract<Step, { readonly kind: "filter" }>,
  value: unknown,
): boolean => {
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
  if (typeof left === "number" && typeof right === "number")
    return isInOrder(left, operator, right);
  if (typeof left === "string" && typeof right === "string")
    return isInOrder(left, operator, right);
  throw failed(
    `${JSON.stringify(left)} ${operator} ${JSON.stringify(right)} compares different types`,
  );
};

/** A result as kubectl prints it. */
const valueText = (value: unknown): string =>
  typeof value === "string" ? value : inGo(JSON.stringify(sorted(value)));

/** As Go prints JSON: members in order of name, and the characters of HTML escaped. */
const inGo = (json: string): string =>
  json.replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};
