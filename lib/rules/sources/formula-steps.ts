import { type Expression, partsOf } from "./expression.ts";

/** Most items of each name of `let` that is a list. */
type Sizes = ReadonlyMap<string, number>;

/**
 * What it takes to evaluate an expression: its parts, a predicate once for each item of its list,
 * and a list once for each item where its name is used.
 */
export const stepsOf = (expression: Expression, sizes: Sizes = new Map()): number => {
  const { kind } = expression;
  if (kind === "list") return stepsOfAll(expression.items, sizes);
  if (kind === "local") return mostItems(expression, sizes);
  if (kind === "let")
    return (
      1 + stepsOf(expression.value, sizes) + stepsOf(expression.body, within(expression, sizes))
    );
  if (kind !== "test" && kind !== "each") return 1 + stepsOfAll(partsOf(expression), sizes);
  const once = stepsOf(expression.predicate, sizes);
  return 1 + stepsOfAll(expression.items, sizes) + once * (1 + mostOfAll(expression.items, sizes));
};

const mostItems = (expression: Expression, sizes: Sizes): number => {
  const { kind } = expression;
  if (kind === "list" || kind === "each") return mostOfAll(expression.items, sizes);
  if (kind === "local") return sizes.get(expression.name) ?? 1;
  if (kind === "let") return mostItems(expression.body, within(expression, sizes));
  if (kind !== "choice") return 1;
  return Math.max(mostItems(expression.met, sizes), mostItems(expression.unmet, sizes));
};

/** The sizes that the body of a `let` sees. */
const within = ({ name, value }: Extract<Expression, { kind: "let" }>, sizes: Sizes): Sizes =>
  new Map(sizes).set(name, mostItems(value, sizes));

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const stepsOfAll = (of: readonly Expression[], sizes: Sizes): number =>
  total(of.map((one) => stepsOf(one, sizes)));
const mostOfAll = (of: readonly Expression[], sizes: Sizes): number =>
  total(of.map((one) => mostItems(one, sizes)));
