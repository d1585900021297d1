import {
  type Expression,
  FUNCTIONS,
  type FunctionName,
  isArithmetic,
  isComparison,
  isFunction,
  isTest,
  namesIn,
  partsOf,
  TESTS,
  type TestName,
} from "./expression.ts";

/**
 * Each bound is checked when a manifest is read, so that no formula of a stored manifest can take
 * long.
 */
export const EXPRESSION_LIMITS = { characters: 1_024, depth: 32, steps: 1_000 } as const;

export type ReadExpression =
  /** `names` has the place of the first use of each. */
  | {
      readonly kind: "expression";
      readonly root: Expression;
      readonly names: ReadonlyMap<string, number>;
    }
  /** `at` counts characters from 1. */
  | { readonly kind: "refused"; readonly at: number; readonly message: string };

type Type = "number" | "boolean";

interface Typed {
  readonly node: Expression;
  readonly type: Type;
}

export interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

class Refused extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
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
      throw new Refused(
        EXPRESSION_LIMITS.characters + 1,
        `a formula has at most ${EXPRESSION_LIMITS.characters} characters, and this one has ${text.length}`,
      );
    const root = readWhole(tokensOf(text));
    const steps = stepsOf(root);
    if (steps > EXPRESSION_LIMITS.steps)
      throw new Refused(
        1,
        `a formula takes at most ${EXPRESSION_LIMITS.steps} steps, and this one takes ${steps}`,
      );
    return { kind: "expression", root, names: namesIn(root, "all") };
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", at: error.at, message: error.message };
    throw error;
  }
};

/** Evaluations of parts, a predicate once for each item of its list. */
const stepsOf = (expression: Expression): number => {
  const parts = partsOf(expression).map(stepsOf);
  const repeated = expression.kind === "test" ? (parts.at(-1) ?? 0) * expression.items.length : 0;
  return 1 + repeated + parts.reduce((total, steps) => total + steps, 0);
};

const TOKEN =
  /((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(?:\*\*|\?\?|&&|\|\||[<>=!]=|[-+*/%^<>!?:,()[\]{}#])/y;
const SPACE = /\s*/y;

/** Other spellings of expr-lang. */
const SAME: Readonly<Record<string, string>> = { "**": "^", and: "&&", or: "||", not: "!" };

export const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  for (let from = startOfToken(text, 0); from < text.length; ) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (!found)
      throw new Refused(
        from + 1,
        `${JSON.stringify([...text.slice(from)][0])} is no part of a formula`,
      );
    tokens.push(tokenOf(found, from + 1));
    from = startOfToken(text, TOKEN.lastIndex);
  }
  return [...tokens, { kind: "end", text: "the end", at: text.length + 1 }];
};

const startOfToken = (text: string, from: number): number => {
  SPACE.lastIndex = from;
  SPACE.exec(text);
  return SPACE.lastIndex;
};

const tokenOf = ([word, number, name]: RegExpExecArray, at: number): Token => {
  const same = Object.hasOwn(SAME, word) ? SAME[word] : undefined;
  if (same !== undefined) return { kind: "sign", text: same, at };
  return {
    kind: number !== undefined ? "number" : name !== undefined ? "name" : "sign",
    text: word,
    at,
  };
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
  if (reader.next().kind !== "end") throw unexpected(reader.next());
  return whole.node;
};

interface Reader {
  readonly next: () => Token;
  readonly take: () => Token;
  /** Takes the sign where it is next. */
  readonly takes: (sign: string) => boolean;
  readonly needs: (sign: string) => void;
  readonly deeper: <Result>(read: () => Result) => Result;
  /** The list whose items a predicate is read for; undefined outside of a predicate. */
  inPredicate: boolean;
}

const readerOf = (tokens: readonly Token[]): Reader => {
  let position = 0;
  let depth = 0;
  const end: Token = tokens.at(-1) ?? { kind: "end", text: "the end", at: 1 };
  const next = (): Token => tokens[position] ?? end;
  const take = (): Token => {
    const token = next();
    position++;
    return token;
  };
  const takes = (sign: string): boolean => {
    const isNext = next().kind === "sign" && next().text === sign;
    if (isNext) position++;
    return isNext;
  };
  return {
    next,
    take,
    takes,
    needs: (sign) => {
      if (!takes(sign))
        throw new Refused(next().at, `expected "${sign}", and found ${shown(next())}`);
    },
    deeper: (read) => {
      if (++depth > EXPRESSION_LIMITS.depth)
        throw new Refused(next().at, `a formula is at most ${EXPRESSION_LIMITS.depth} levels deep`);
      const result = read();
      depth--;
      return result;
    },
    inPredicate: false,
  };
};

const shown = ({ kind, text }: Token): string => (kind === "end" ? text : `"${text}"`);
const unexpected = (token: Token): Refused =>
  new Refused(token.at, `${shown(token)} is not expected here`);

const typed = (of: Typed, wanted: Type, at: number): Expression => {
  if (of.type === wanted) return of.node;
  throw new Refused(
    at,
    wanted === "number"
      ? "a number is needed here, and this is a comparison"
      : "a comparison is needed here, and this is a number",
  );
};

/**
 * `condition ? one : other`, or what it is made of. With a `wanted` type, another one is refused.
 */
const readChoice = (reader: Reader, wanted?: Type): Typed =>
  reader.deeper(() => {
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

const readOperators = (reader: Reader, closest: number): Typed => {
  const { at } = reader.next();
  let left = readOperand(reader);
  for (;;) {
    const operator = reader.next();
    const closeness = operator.kind === "sign" ? CLOSENESS[operator.text] : undefined;
    if (closeness === undefined || closeness < closest) return left;
    reader.take();
    const rightAt = reader.next().at;
    const right = reader.deeper(() =>
      readOperators(reader, operator.text === "^" ? closeness : closeness + 1),
    );
    left = combined(operator, { ...left, at }, { ...right, at: rightAt });
  }
};

type Placed = Typed & { readonly at: number };

const combined = ({ text, at }: Token, left: Placed, right: Placed): Typed => {
  const both = (type: Type) => ({
    left: typed(left, type, left.at),
    right: typed(right, type, right.at),
  });
  if (isArithmetic(text))
    return { node: { kind: "arithmetic", operator: text, ...both("number"), at }, type: "number" };
  if (isComparison(text))
    return { node: { kind: "comparison", operator: text, ...both("number") }, type: "boolean" };
  if (text === "??") {
    const { left: of, right: instead } = both("number");
    return { node: { kind: "instead", of, instead }, type: "number" };
  }
  return { node: { kind: text === "&&" ? "and" : "or", ...both("boolean") }, type: "boolean" };
};

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
    case "#":
      if (!reader.inPredicate)
        throw new Refused(
          at,
          `"#" is an item of a list, and has a meaning inside ${Object.keys(TESTS).join(", ")} only`,
        );
      return { node: { kind: "item" }, type: "number" };
    default:
      throw unexpected({ kind, text, at });
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
  if (!reader.takes("(")) return { node: { kind: "name", name, at }, type: "number" };
  if (isTest(name)) return readTest(reader, name, at);
  if (isFunction(name)) return readCall(reader, name, at);
  throw new Refused(
    at,
    `"${name}" is no function of formulas: they have ${[...Object.keys(FUNCTIONS), ...Object.keys(TESTS)].join(", ")}`,
  );
};

const readCall = (reader: Reader, name: FunctionName, at: number): Typed => {
  const items = reader.takes("[") ? readItems(reader, "]") : undefined;
  if (items) reader.needs(")");
  const given = items ?? readItems(reader, ")");
  const isRight =
    FUNCTIONS[name].takes === "many" ? given.length > 0 : given.length === 1 && items === undefined;
  if (!isRight)
    throw new Refused(
      at,
      `"${name}" takes ${FUNCTIONS[name].takes === "many" ? "one or more numbers" : "one number"}`,
    );
  return { node: { kind: "call", name, items: given, at }, type: "number" };
};

/** `count([a, b], # > 1)`; the predicate may have braces around it, as in expr-lang. */
const readTest = (reader: Reader, name: TestName, at: number): Typed => {
  if (reader.inPredicate) throw new Refused(at, `"${name}" may not be inside another predicate`);
  reader.needs("[");
  const items = readItems(reader, "]");
  if (items.length === 0) throw new Refused(at, `"${name}" takes a list with one or more numbers`);
  reader.needs(",");
  const braced = reader.takes("{");
  reader.inPredicate = true;
  const predicate = readChoice(reader, "boolean").node;
  reader.inPredicate = false;
  if (braced) reader.needs("}");
  reader.needs(")");
  return {
    node: { kind: "test", name, items, predicate },
    type: name === "count" ? "number" : "boolean",
  };
};

const readItems = (reader: Reader, end: string): readonly Expression[] => {
  const items: Expression[] = [];
  while (!reader.takes(end)) {
    if (items.length > 0) reader.needs(",");
    items.push(readChoice(reader, "number").node);
  }
  return items;
};
