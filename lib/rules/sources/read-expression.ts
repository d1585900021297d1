import {
  EACH,
  type EachName,
  type Expression,
  FUNCTIONS,
  type FunctionName,
  isArithmetic,
  isComparison,
  isEach,
  isFunction,
  isTest,
  namesIn,
  partsOf,
  TESTS,
  type TestName,
} from "./expression.ts";
import {
  DEPTH_MOST,
  type Reader,
  readerOf,
  tokenWords,
  type Type,
  TYPES,
  notExpected,
} from "./formula-reader.ts";
import { stepsOf } from "./formula-steps.ts";
import { NotAFormula, type Token, tokensOf } from "./formula-tokens.ts";
import { isOtherWord, wayOutOf } from "./not-in-formulas.ts";

/**
 * Each bound is checked when a manifest is read, so that no formula of a stored manifest can take
 * long.
 */
export const EXPRESSION_LIMITS = { characters: 1_024, depth: DEPTH_MOST, steps: 1_000 } as const;

export type ReadExpression =
  /** `names` has the place of the first use of each. */
  | {
      readonly kind: "expression";
      readonly root: Expression;
      readonly names: ReadonlyMap<string, number>;
    }
  /** `at` counts characters from 1. */
  | { readonly kind: "refused"; readonly at: number; readonly message: string };

interface Typed {
  readonly node: Expression;
  readonly type: Type;
}

/**
 * Reads a formula: numbers, names of metrics, operators and the functions of expression.ts. The
 * order of the operators is the one of expr-lang, which KEDA uses, so that `??` binds closest: `a +
 * b ?? 0` is `a + (b ?? 0)`. A formula whose types do not fit is refused, so that evaluating one
 * cannot fail by its types.
 */
export const readExpression = (text: string): ReadExpression => {
  const reading = readLately.get(text) ?? readAnew(text);
  if (readLately.size >= READ_LATELY_MAX) readLately.clear();
  readLately.set(text, reading);
  return reading;
};

/** A manifest is looked at several times, and a long text takes a millisecond. */
const readLately = new Map<string, ReadExpression>();
const READ_LATELY_MAX = 500;

const readAnew = (text: string): ReadExpression => {
  try {
    if (text.length > EXPRESSION_LIMITS.characters)
      throw new NotAFormula(
        EXPRESSION_LIMITS.characters + 1,
        `a formula has at most ${EXPRESSION_LIMITS.characters} characters, and this one has ${text.length}`,
      );
    const root = readWhole(tokensOf(text));
    const steps = stepsOf(root);
    if (steps > EXPRESSION_LIMITS.steps)
      throw new NotAFormula(
        1,
        `a formula takes at most ${EXPRESSION_LIMITS.steps} steps, and this one takes ${steps}`,
      );
    return { kind: "expression", root, names: namesIn(root, "all") };
  } catch (error) {
    if (error instanceof NotAFormula)
      return { kind: "refused", at: error.at, message: error.message };
    throw error;
  }
};

/** How close an operator binds its operands; `^` is the only one that begins at the right. */
const CLOSENESS: Readonly<Record<string, number>> = {
  "||": 10,
  "&&": 15,
  "==": 20,
  "!=": 20,
  "<": 20,
  "<=": 20,
  ">": 20,
  ">=": 20,
  "+": 30,
  "-": 30,
  "*": 60,
  "/": 60,
  "%": 60,
  "^": 100,
  "??": 500,
};
const NOT = 50;
const MINUS = 90;

const readWhole = (tokens: readonly Token[]): Expression => {
  const reader = readerOf(tokens);
  const whole = readChoice(reader, "number");
  if (reader.next().kind !== "end") throw notExpected(reader.next());
  return whole.node;
};

const typed = (of: Typed, wanted: Type, at: number): Expression => {
  if (of.type === wanted) return of.node;
  throw new NotAFormula(at, `a ${TYPES[wanted]} is needed here, and this is a ${TYPES[of.type]}`);
};

/**
 * `let name = value; …`, `if condition { one } else { other }`, `condition ? one : other`, or what
 * they are made of. With a `wanted` type, another one is refused.
 */
const readChoice = (reader: Reader, wanted?: Type): Typed =>
  reader.deeper(() => {
    if (isLet(reader)) return readLet(reader, wanted);
    if (isIf(reader)) return readIf(reader, wanted);
    const { at } = reader.next();
    const first = readOperators(reader, 0);
    if (!reader.takes("?"))
      return wanted ? { node: typed(first, wanted, at), type: wanted } : first;
    const condition = typed(first, "boolean", at);
    const met = readChoice(reader, wanted);
    reader.needs(":");
    const unmet = readChoice(reader, met.type);
    return {
      node: { kind: "choice", condition, met: met.node, unmet: unmet.node },
      type: met.type,
    };
  });

/** A metric may have the name `let`. */
const isLet = (reader: Reader): boolean =>
  isWord(reader.next(), "let") && reader.second().kind === "name";
const isWord = ({ kind, text }: Token, word: string): boolean => kind === "name" && text === word;

/** A metric may have the name `if`: a value begins behind the word only where it is none. */
const isIf = (reader: Reader): boolean => {
  const { kind, text } = reader.second();
  return isWord(reader.next(), "if") && (kind !== "sign" || text === "(" || text === "!");
};

const readLet = (reader: Reader, wanted?: Type): Typed => {
  reader.take();
  const { text: name, at } = reader.take();
  if (reader.locals.has(name) || isFunction(name) || isTest(name) || isEach(name))
    throw new NotAFormula(at, `"${name}" has a meaning already: give it another name`);
  reader.needs("=");
  const value = readChoice(reader);
  reader.needs(";");
  const around = reader.locals;
  reader.locals = new Map(around).set(name, value.type);
  const body = readChoice(reader, wanted);
  reader.locals = around;
  return { node: { kind: "let", name, value: value.node, body: body.node }, type: body.type };
};

const readIf = (reader: Reader, wanted?: Type): Typed => {
  reader.take();
  const condition = readChoice(reader, "boolean").node;
  const met = readBraced(reader, wanted);
  const otherwise = reader.take();
  if (!isWord(otherwise, "else"))
    throw new NotAFormula(otherwise.at, `expected "else", and found ${tokenWords(otherwise)}`);
  const unmet = isIf(reader)
    ? reader.deeper(() => readIf(reader, met.type))
    : readBraced(reader, met.type);
  return { node: { kind: "choice", condition, met: met.node, unmet: unmet.node }, type: met.type };
};

const readBraced = (reader: Reader, wanted?: Type): Typed => {
  reader.needs("{");
  const inside = readChoice(reader, wanted);
  reader.needs("}");
  return inside;
};

const readOperators = (reader: Reader, closest: number): Typed => {
  const { at } = reader.next();
  let left: Placed = { ...readOperand(reader), at };
  /** The right operand of a comparison, for `1 < a < 5`. */
  let compared: Placed | undefined;
  for (;;) {
    const operator = reader.next();
    const closeness = operator.kind === "sign" ? CLOSENESS[operator.text] : undefined;
    if (closeness === undefined || closeness < closest) return left;
    reader.take();
    const rightAt = reader.next().at;
    const right: Placed = {
      ...reader.deeper(() =>
        readOperators(reader, operator.text === "^" ? closeness : closeness + 1),
      ),
      at: rightAt,
    };
    const isOrder = ORDERS.has(operator.text);
    left =
      isOrder && compared
        ? { ...both("and", left, combined(operator, compared, right)), at }
        : { ...combined(operator, left, right), at };
    compared = isOrder ? right : undefined;
  }
};

/** Comparisons that may follow each other. */
const ORDERS: ReadonlySet<string> = new Set(["<", "<=", ">", ">="]);

type Placed = Typed & { readonly at: number };

const both = (kind: "and" | "or", left: Typed, right: Typed): Typed => ({
  node: { kind, left: left.node, right: right.node },
  type: "boolean",
});

const combined = ({ text, at }: Token, left: Placed, right: Placed): Typed => {
  const of = (type: Type) => ({
    left: typed(left, type, left.at),
    right: typed(right, type, right.at),
  });
  if (isArithmetic(text))
    return { node: { kind: "arithmetic", operator: text, ...of("number"), at }, type: "number" };
  if (isComparison(text))
    return { node: { kind: "comparison", operator: text, ...of("number") }, type: "boolean" };
  if (text === "??") {
    const { left: value, right: instead } = of("number");
    // The value of a name of let is calculated before it is used.
    if (hasLocal(value))
      throw new NotAFormula(at, '"??" replaces a metric that is missing: write it in the let');
    return { node: { kind: "instead", of: value, instead }, type: "number" };
  }
  return { node: { kind: text === "&&" ? "and" : "or", ...of("boolean") }, type: "boolean" };
};

const hasLocal = (expression: Expression): boolean =>
  expression.kind === "local" || partsOf(expression).some(hasLocal);

const readOperand = (reader: Reader): Typed => {
  const { kind, text, at } = reader.take();
  if (kind === "number") return { node: { kind: "number", value: Number(text) }, type: "number" };
  if (kind === "name") return readName(reader, text, at);
  switch (text) {
    case "-":
      return { node: { kind: "minus", of: readSigned(reader, MINUS, "number") }, type: "number" };
    case "+":
      return { node: readSigned(reader, MINUS, "number"), type: "number" };
    case "!":
      return { node: { kind: "not", of: readSigned(reader, NOT, "boolean") }, type: "boolean" };
    case "(": {
      const inside = readChoice(reader);
      reader.needs(")");
      return inside;
    }
    case "[":
      return { node: readItems(reader, at), type: "list" };
    case "#":
      if (!reader.inPredicate)
        throw new NotAFormula(
          at,
          `"#" is an item of a list, and has a meaning inside ${[...Object.keys(TESTS), ...Object.keys(EACH)].join(", ")} only`,
        );
      return { node: { kind: "item" }, type: "number" };
    default:
      throw notExpected({ kind, text, at });
  }
};

const readSigned = (reader: Reader, closest: number, wanted: Type): Expression => {
  const { at } = reader.next();
  return typed(
    reader.deeper(() => readOperators(reader, closest)),
    wanted,
    at,
  );
};

const readName = (reader: Reader, name: string, at: number): Typed => {
  if (isOtherWord(name)) throw notExpected({ kind: "name", text: name, at });
  if (reader.takes("(")) {
    if (isTest(name)) return readTest(reader, name);
    if (isEach(name)) return readEach(reader, name);
    if (isFunction(name)) return readCall(reader, name, at);
    throw new NotAFormula(
      at,
      `"${name}" is no function of formulas${wayOutOf(name) || `: they have ${FUNCTION_NAMES}`}`,
    );
  }
  const type = reader.locals.get(name);
  return type === undefined
    ? { node: { kind: "name", name, at }, type: "number" }
    : { node: { kind: "local", name }, type };
};

const FUNCTION_NAMES = [FUNCTIONS, TESTS, EACH].flatMap((of) => Object.keys(of)).join(", ");

const readCall = (reader: Reader, name: FunctionName, at: number): Typed => {
  const { takes } = FUNCTIONS[name];
  const items = ARGUMENTS[takes](reader);
  // `sum([a, b], # * 2)` is the sum of what the list becomes.
  if (name === "sum" && isNext(reader, ",")) {
    reader.take();
    const predicate = readPredicate(reader, "number");
    reader.needs(")");
    return callOf(name, at, [{ kind: "each", name: "map", items, predicate }]);
  }
  if (items.length === 0 || isNext(reader, ","))
    throw new NotAFormula(at, `"${name}" takes ${TAKES[takes]}`);
  reader.needs(")");
  return callOf(name, at, items);
};

const callOf = (name: FunctionName, at: number, items: readonly Expression[]): Typed => ({
  node: { kind: "call", name, items, at },
  type: "number",
});

const isNext = (reader: Reader, sign: string): boolean =>
  reader.next().kind === "sign" && reader.next().text === sign;

const TAKES = { one: "one number", many: "one or more numbers", list: "a list" } as const;

const ARGUMENTS: Readonly<Record<keyof typeof TAKES, (reader: Reader) => readonly Expression[]>> = {
  one: (reader) => (isNext(reader, ")") ? [] : [readChoice(reader, "number").node]),
  list: (reader) => [readList(reader)],
  /** Numbers, or one list. */
  many: (reader) => {
    const items: Expression[] = [];
    while (!isNext(reader, ")")) {
      const { at } = reader.next();
      const item = isNext(reader, "[") ? listed(readList(reader)) : readChoice(reader);
      if (item.type === "list" && items.length === 0) return [item.node];
      items.push(typed(item, "number", at));
      if (!isNext(reader, ",")) break;
      reader.take();
    }
    return items;
  },
};

const listed = (node: Expression): Typed => ({ node, type: "list" });

/** A list that is written out is no level of its own. */
const readList = (reader: Reader): Expression => {
  const { at } = reader.next();
  return reader.takes("[") ? readItems(reader, at) : readChoice(reader, "list").node;
};

/** `count([a, b], # > 1)`; the predicate may have braces around it, as in expr-lang. */
const readTest = (reader: Reader, name: TestName): Typed => ({
  node: { kind: "test", name, ...readListAndPredicate(reader, "boolean") },
  type: name === "count" ? "number" : "boolean",
});

/** `filter([a, b], # > 1)` and `map([a, b], # * 2)`. */
const readEach = (reader: Reader, name: EachName): Typed =>
  listed({ kind: "each", name, ...readListAndPredicate(reader, EACH[name].predicate) });

const readListAndPredicate = (reader: Reader, wanted: Type) => {
  const items = [readList(reader)];
  reader.needs(",");
  const predicate = readPredicate(reader, wanted);
  reader.needs(")");
  return { items, predicate };
};

const readPredicate = (reader: Reader, wanted: Type): Expression => {
  const around = reader.inPredicate;
  const braced = reader.takes("{");
  reader.inPredicate = true;
  const predicate = readChoice(reader, wanted).node;
  reader.inPredicate = around;
  if (braced) reader.needs("}");
  return predicate;
};

const readItems = (reader: Reader, at: number): Expression => {
  const items: Expression[] = [];
  while (!reader.takes("]")) {
    if (items.length > 0) reader.needs(",");
    items.push(readChoice(reader, "number").node);
  }
  if (items.length === 0) throw new NotAFormula(at, "a list has one or more numbers");
  return { kind: "list", items };
};
