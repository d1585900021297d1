import { type Failure, failure, type Inputs } from "./source.ts";

/**
 * A formula as a tree. `at` is the place of the operator or the name in the text, from 1, so that a
 * failure can name it. Types are checked when the text is read (read-expression.ts).
 */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "name"; readonly name: string; readonly at: number }
  /** `#`, one item of the list of the predicate around it. */
  | { readonly kind: "item" }
  | { readonly kind: "minus" | "not"; readonly of: Expression }
  | {
      readonly kind: "arithmetic";
      readonly operator: Arithmetic;
      readonly left: Expression;
      readonly right: Expression;
      readonly at: number;
    }
  | {
      readonly kind: "comparison";
      readonly operator: Comparison;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: "choice";
      readonly condition: Expression;
      readonly met: Expression;
      readonly unmet: Expression;
    }
  /** `of ?? instead` */
  | { readonly kind: "instead"; readonly of: Expression; readonly instead: Expression }
  | {
      readonly kind: "call";
      readonly name: FunctionName;
      readonly items: readonly Expression[];
      readonly at: number;
    }
  | {
      readonly kind: "test";
      readonly name: TestName;
      readonly items: readonly Expression[];
      readonly predicate: Expression;
    }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  /** A list that another one becomes: the items that pass, or a number for each. */
  | {
      readonly kind: "each";
      readonly name: EachName;
      readonly items: readonly Expression[];
      readonly predicate: Expression;
    }
  /** `let name = value; body`, in which a `local` of this name is the value. */
  | {
      readonly kind: "let";
      readonly name: string;
      readonly value: Expression;
      readonly body: Expression;
    }
  | { readonly kind: "local"; readonly name: string };

type Operation<Result> = (left: number, right: number) => Result;

const ARITHMETIC = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "^": (left, right) => left ** right,
} as const satisfies Readonly<Record<string, Operation<number>>>;

const COMPARISONS = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
} as const satisfies Readonly<Record<string, Operation<boolean>>>;

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** As in expr-lang, the mean and the median of an empty list are 0, and it has no least item. */
const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : sum(numbers) / numbers.length;

const median = (numbers: readonly number[]): number => {
  if (numbers.length === 0) return 0;
  const sorted = numbers.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
};

/**
 * `one`: of one number. `many`: of one or more numbers, as `max(a, b)` or `max([a, b])`. `list`: of
 * a list.
 */
export const FUNCTIONS = {
  min: { takes: "many", apply: (numbers) => Math.min(...numbers) },
  max: { takes: "many", apply: (numbers) => Math.max(...numbers) },
  sum: { takes: "many", apply: sum },
  mean: { takes: "many", apply: mean },
  len: { takes: "list", apply: (numbers) => numbers.length },
  median: { takes: "many", apply: median },
  abs: { takes: "one", apply: ([number = Number.NaN]) => Math.abs(number) },
  ceil: { takes: "one", apply: ([number = Number.NaN]) => Math.ceil(number) },
  floor: { takes: "one", apply: ([number = Number.NaN]) => Math.floor(number) },
  // A number of an input is a float as it is.
  float: { takes: "one", apply: ([number = Number.NaN]) => number },
  int: { takes: "one", apply: ([number = Number.NaN]) => Math.trunc(number) },
  // Half away from zero, as expr-lang and Go round.
  round: {
    takes: "one",
    apply: ([number = Number.NaN]) => Math.sign(number) * Math.round(Math.abs(number)),
  },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly takes: "one" | "many" | "list";
      readonly apply: (numbers: readonly number[]) => number;
    }
  >
>;

/** How many items of a list meet a predicate, and whether one or all of them do. */
export const TESTS = {
  count: (met) => met.filter(Boolean).length,
  any: (met) => met.some(Boolean),
  all: (met) => met.every(Boolean),
  none: (met) => !met.some(Boolean),
  one: (met) => met.filter(Boolean).length === 1,
} as const satisfies Readonly<Record<string, (met: readonly boolean[]) => number | boolean>>;

/** A list of the items of another one, each with what its predicate says about it. */
export const EACH = {
  filter: { predicate: "boolean", of: (items, said) => items.filter((_item, at) => said[at]) },
  map: { predicate: "number", of: (_items, said) => said.map(Number) },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly predicate: "boolean" | "number";
      readonly of: (items: readonly number[], said: readonly Value[]) => readonly number[];
    }
  >
>;

export type Arithmetic = keyof typeof ARITHMETIC;
export type Comparison = keyof typeof COMPARISONS;
export type FunctionName = keyof typeof FUNCTIONS;
export type TestName = keyof typeof TESTS;
export type EachName = keyof typeof EACH;

export const isArithmetic = (text: string): text is Arithmetic => Object.hasOwn(ARITHMETIC, text);
export const isComparison = (text: string): text is Comparison => Object.hasOwn(COMPARISONS, text);
export const isFunction = (text: string): text is FunctionName => Object.hasOwn(FUNCTIONS, text);
export const isTest = (text: string): text is TestName => Object.hasOwn(TESTS, text);
export const isEach = (text: string): text is EachName => Object.hasOwn(EACH, text);

/**
 * The value of a formula. On doubt, a missing metric: an input that is missing and has no `??`,
 * also in a branch that is not taken, makes the formula missing, and so does each result that is no
 * finite number, also inside a comparison.
 */
export const formulaValue = (expression: Expression, inputs: Inputs): number | Failure => {
  for (const name of namesIn(expression, "needed").keys()) {
    const input = inputs(name);
    if (typeof input !== "number") return input;
  }
  try {
    const value = evaluate(expression, { inputs });
    return typeof value === "number" ? value : failure("the formula gives no number");
  } catch (error) {
    if (error instanceof NoValue) return failure(error.message);
    throw error;
  }
};

/**
 * The names of a formula with the place of the first use: all, or only the ones that no `??`
 * replaces.
 */
export const namesIn = (
  expression: Expression,
  which: "all" | "needed",
): ReadonlyMap<string, number> => {
  const names = new Map<string, number>();
  const look = (of: Expression): void => {
    if (of.kind === "name" && !names.has(of.name)) names.set(of.name, of.at);
    if (of.kind === "instead" && which === "needed") return;
    for (const part of partsOf(of)) look(part);
  };
  look(expression);
  return names;
};

export const partsOf = (expression: Expression): readonly Expression[] => {
  switch (expression.kind) {
    case "number":
    case "name":
    case "item":
    case "local":
      return [];
    case "minus":
    case "not":
      return [expression.of];
    case "arithmetic":
    case "comparison":
    case "and":
    case "or":
      return [expression.left, expression.right];
    case "choice":
      return [expression.condition, expression.met, expression.unmet];
    case "instead":
      return [expression.of, expression.instead];
    case "let":
      return [expression.value, expression.body];
    case "call":
    case "list":
      return expression.items;
    case "test":
    case "each":
      return [...expression.items, expression.predicate];
  }
};

/**
 * Ends an evaluation. `??` replaces only what is missing: a division by zero is an error of the
 * formula.
 */
class NoValue extends Error {
  readonly missing: boolean;
  constructor(message: string, missing: boolean) {
    super(message);
    this.missing = missing;
  }
}

type Value = number | boolean | readonly number[];

interface Scope {
  readonly inputs: Inputs;
  readonly item?: number;
  /** The values of the names of `let`. */
  readonly locals?: ReadonlyMap<string, Value>;
}

const evaluate = (expression: Expression, scope: Scope): Value => {
  switch (expression.kind) {
    case "number":
      return expression.value;
    case "name":
      return inputOf(scope.inputs(expression.name));
    case "item":
      return scope.item ?? Number.NaN;
    case "minus":
      return -numberOf(expression.of, scope);
    case "not":
      return !evaluate(expression.of, scope);
    case "arithmetic":
      return finite(
        ARITHMETIC[expression.operator](
          numberOf(expression.left, scope),
          numberOf(expression.right, scope),
        ),
        expression.operator,
        expression,
      );
    case "comparison":
      return COMPARISONS[expression.operator](
        numberOf(expression.left, scope),
        numberOf(expression.right, scope),
      );
    case "and":
      return evaluate(expression.left, scope) && evaluate(expression.right, scope);
    case "or":
      return evaluate(expression.left, scope) || evaluate(expression.right, scope);
    case "choice":
      return evaluate(
        evaluate(expression.condition, scope) ? expression.met : expression.unmet,
        scope,
      );
    case "instead":
      return orInstead(expression, scope);
    case "call":
      return finite(
        FUNCTIONS[expression.name].apply(numbersOf(expression.items, scope)),
        expression.name,
        expression,
      );
    case "test":
      return TESTS[expression.name](saidOf(expression, scope).said.map(Boolean));
    case "each": {
      const { items, said } = saidOf(expression, scope);
      return EACH[expression.name].of(items, said);
    }
    case "list":
      return numbersOf(expression.items, scope);
    case "let": {
      const value = evaluate(expression.value, scope);
      const locals = new Map(scope.locals).set(expression.name, value);
      return evaluate(expression.body, { ...scope, locals });
    }
    case "local":
      return scope.locals?.get(expression.name) ?? Number.NaN;
  }
};

const orInstead = (
  { of, instead }: Extract<Expression, { kind: "instead" }>,
  scope: Scope,
): Value => {
  try {
    return evaluate(of, scope);
  } catch (error) {
    if (error instanceof NoValue && error.missing) return evaluate(instead, scope);
    throw error;
  }
};

const inputOf = (input: number | Failure): number => {
  if (typeof input !== "number") throw new NoValue(input.message, true);
  return input;
};

const numberOf = (expression: Expression, scope: Scope): number =>
  Number(evaluate(expression, scope));
/** Of a list its items. */
const numbersOf = (items: readonly Expression[], scope: Scope): readonly number[] =>
  items.flatMap((item) => {
    const value = evaluate(item, scope);
    return typeof value === "object" ? value : Number(value);
  });

/** The items of a list, and what the predicate says about each. */
const saidOf = (
  { items, predicate }: Extract<Expression, { kind: "test" | "each" }>,
  scope: Scope,
) => {
  const numbers = numbersOf(items, scope);
  return { items: numbers, said: numbers.map((item) => evaluate(predicate, { ...scope, item })) };
};

const finite = (value: number, what: string, { at }: { readonly at: number }): number => {
  if (!Number.isFinite(value))
    throw new NoValue(`"${what}" at character ${at} of the formula gives no finite number`, false);
  return value;
};
