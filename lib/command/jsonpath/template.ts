import { present } from "../../rules/model/json.ts";
import { usage } from "../usage-error.ts";

/** One step of a path, from the values so far to the next ones. */
export type Step =
  | { readonly kind: "field"; readonly name: string }
  /** `[*]` or `.*`; only a list has `[*]`. */
  | { readonly kind: "all"; readonly of: "list" | "object" }
  /** `..`: a value and all objects and lists below it. */
  | { readonly kind: "below" }
  | { readonly kind: "slice"; readonly from?: number; readonly to?: number; readonly every: number }
  | { readonly kind: "union"; readonly members: readonly Step[] }
  | {
      readonly kind: "filter";
      readonly left: Operand;
      readonly test?: { readonly operator: Operator; readonly right: Operand };
    };

export type Operand =
  | { readonly steps: readonly Step[] }
  | { readonly value: string | number | boolean };

const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"] as const;
export type Operator = (typeof OPERATORS)[number];

type Problem = (words: string) => Error;

const START = /^[$@]/;
const FIELD = /^\.?((?:\\.|[^\\.[\]{}\s*'"()=<>!,$@])+)/;
/** Up to its bracket, with quoted texts and inner brackets. */
const BRACKETS = /^\[((?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\[[^\]]*\]|[^\][])*)\]/;

/** Reads a path such as `.items[*].metadata.name`. Throws what `problem` makes of its words. */
export const parsePath = (text: string, problem: Problem): readonly Step[] => {
  const steps: Step[] = [];
  let rest = text.trim().replace(START, "");
  if (rest !== "" && !rest.startsWith(".") && !rest.startsWith("["))
    throw problem(`"${text}" is no path: a path begins with a point`);
  while (rest !== "") {
    const read = nextStep(rest, problem);
    steps.push(read.step);
    rest = rest.slice(read.length).trimStart();
  }
  return steps;
};

const nextStep = (
  rest: string,
  problem: Problem,
): { readonly step: Step; readonly length: number } => {
  // The name that follows the two points is a step of its own.
  if (rest.startsWith(".."))
    return { step: { kind: "below" }, length: /^\.\.(?=[.[])/.test(rest) ? 2 : 1 };
  if (rest.startsWith(".*")) return { step: { kind: "all", of: "object" }, length: 2 };
  const brackets = BRACKETS.exec(rest);
  if (brackets)
    return { step: inBrackets((brackets[1] ?? "").trim(), problem), length: brackets[0].length };
  const field = rest.startsWith(".") ? FIELD.exec(rest) : undefined;
  if (!field) throw problem(`"${rest}" is no step of a path`);
  return { step: { kind: "field", name: bare(field[1] ?? "") }, length: field[0].length };
};

/** `\.` stands for a point that belongs to the name, as in `app\.kubernetes\.io/name`. */
const bare = (name: string): string => name.replaceAll(/\\(.)/g, "$1");

const FILTER = /^\?\((.*)\)$/s;
const SLICE = /^(-?\d+)?(?::(-?\d+)?(?::(-?\d+)?)?)?$/;
const NAME = /^'((?:\\.|[^'\\])*)'$/;

const inBrackets = (text: string, problem: Problem): Step => {
  if (text === "*") return { kind: "all", of: "list" };
  const filter = FILTER.exec(text);
  if (filter) return filterOf(filter[1] ?? "", problem);
  const members = text.split(",").map((member) => memberOf(member.trim(), text, problem));
  const [only] = members;
  return members.length === 1 && only ? only : { kind: "union", members };
};

const memberOf = (text: string, all: string, problem: Problem): Step => {
  const name = NAME.exec(text);
  if (name) return { kind: "field", name: bare(name[1] ?? "") };
  const slice = SLICE.exec(text);
  if (!slice) throw problem(`"[${all}]" is no index, slice, filter or name in single quotes`);
  if (!text.includes(":")) return indexOf(Number(text || "0"));
  const [from, to, every] = slice
    .slice(1)
    .map((number: string | undefined) => (number === undefined ? undefined : Number(number)));
  if (every !== undefined && every <= 0) throw problem(`"[${all}]" has a step that is not above 0`);
  return { kind: "slice", ...present({ from, to }), every: every ?? 1 };
};

const indexOf = (at: number): Step => ({
  kind: "slice",
  from: at,
  ...(at !== -1 && { to: at + 1 }),
  every: 1,
});

const COMPARISON =
  /^((?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^'"=<>!])+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/s;
const isOperator = (text: string | undefined): text is Operator =>
  OPERATORS.some((operator) => operator === text);

const filterOf = (text: string, problem: Problem): Step => {
  if (/&&|\|\|/.test(text))
    throw problem(`"[?(${text})]" has && or ||, which the dialect of kubectl does not know`);
  const [, left, operator, right] = COMPARISON.exec(text.trim()) ?? [];
  if (left === undefined || right === undefined || !isOperator(operator))
    return { kind: "filter", left: operandOf(text.trim(), problem) };
  return {
    kind: "filter",
    left: operandOf(left, problem),
    test: { operator, right: operandOf(right.trim(), problem) },
  };
};

const QUOTED_NAME = /^(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")$/s;

const operandOf = (text: string, problem: Problem): Operand => {
  const quoted = QUOTED_NAME.exec(text);
  if (quoted) return { value: bare(quoted[1] ?? quoted[2] ?? "") };
  if (text === "true" || text === "false") return { value: text === "true" };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text) };
  return { steps: parsePath(text, problem) };
};

/**
 * One part of a template: text that is printed as it is, a path, or what is repeated for each
 * result of a path.
 */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly steps: readonly Step[] }
  | {
      readonly kind: "range";
      readonly steps: readonly Step[];
      readonly body: readonly TemplatePart[];
    };

const ACTION = /\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^}"'])*)\}/y;
const QUOTED_TEXT = /^(?:"(.*)"|'(.*)')$/s;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter);

/**
 * Reads a template of `-o jsonpath=`, in the dialect of kubectl: paths in braces, `{range …}` to
 * `{end}`, quoted text such as `{"\n"}`, and other text between them. Nothing of it is run as code.
 * Throws a usage error with the part that cannot be read.
 */
export const parseTemplate = (template: string): readonly TemplatePart[] => {
  const words = actionsOf(template);
  const parts = partsUntilEnd(words, template);
  if (words.length > 0) throw unreadable(template, "{end} ends no {range}");
  return parts;
};

const unreadable = (template: string, problem: string) =>
  usage(
    `Cannot read -o jsonpath="${template}": ${problem}; write for example -o jsonpath='{.items[*].metadata.name}'`,
  );

type Word = { readonly text: string } | { readonly action: string };

/** Text and actions in their order. */
const actionsOf = (template: string): Word[] => {
  const words: Word[] = [];
  for (let at = 0; at < template.length; ) {
    const brace = template.indexOf("{", at);
    const end = brace < 0 ? template.length : brace;
    if (end > at) words.push({ text: template.slice(at, end) });
    if (brace < 0) break;
    ACTION.lastIndex = brace;
    const action = ACTION.exec(template);
    if (!action) throw unreadable(template, `"${template.slice(brace)}" has no closing brace`);
    words.push({ action: (action[1] ?? "").trim() });
    at = ACTION.lastIndex;
  }
  return words;
};

const RANGE = /^range\s+(.+)$/s;

/**
 * Takes words up to the `{end}` of the range that contains them. As with kubectl, the last ranges
 * may lack theirs.
 */
const partsUntilEnd = (words: Word[], template: string): readonly TemplatePart[] => {
  const parts: TemplatePart[] = [];
  for (;;) {
    const word = words[0];
    if (!word || ("action" in word && word.action === "end")) return parts;
    words.shift();
    if ("text" in word) parts.push({ kind: "text", text: word.text });
    else parts.push(partOf(word.action, words, template));
  }
};

const partOf = (action: string, words: Word[], template: string): TemplatePart => {
  const quoted = QUOTED_TEXT.exec(action);
  if (quoted) return { kind: "text", text: unescaped(quoted[1] ?? quoted[2] ?? "") };
  const range = RANGE.exec(action);
  const steps = parsePath(range?.[1] ?? action, (problem) => unreadable(template, problem));
  if (!range) return { kind: "path", steps };
  const body = partsUntilEnd(words, template);
  words.shift();
  return { kind: "range", steps, body };
};
