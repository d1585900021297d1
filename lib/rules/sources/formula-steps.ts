import { type Expression, partsOf } from "./expression.ts";

/** Most items of each name of `let` that is a list. */
type Sizes = ReadonlyMap<string, number>;

/**
 * What it takes to evaluate an expression: its parts, a predicate once for each item of its list, and a list once for each item
 * where its name is used.
 */
export const stepsOf = (expression: Expression, sizes: Sizes = new Map()): number => {
  switch (expression.kind) {
    case "list":
      return stepsOfAll(expression.items, sizes);
    case "local":
      return mostItems(expression, sizes);
    case "let": {
      const within = new Map(sizes).set(expression.name, mostItems(expression.value, sizes));
      return 1 + stepsOf(expression.value, sizes) + stepsOf(expression.body, within);
    }
    case "test":
    case "each": {
      const { items, predicate } = expression;
      const once = stepsOf(predicate, sizes);
      return 1 + stepsOfAll(items, sizes) + once + once * mostOfAll(items, sizes);
    }
    default:
      return 1 + stepsOfAll(partsOf(expression), sizes);
  }
};

const mostItems = (expression: Expression, sizes: Sizes): number => {
  switch (expression.kind) {
    case "list":
    case "each":
      return mostOfAll(expression.items, sizes);
    case "local":
      return sizes.get(expression.name) ?? 1;
    case "let": {
      const within = new Map(sizes).set(expression.name, mostItems(expression.value, sizes));
      return mostItems(expression.body, within);
    }
    case "choice":
      return Math.max(mostItems(expression.met, sizes), mostItems(expression.unmet, sizes));
    default:
      return 1;
  }
};

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const stepsOfAll = (of: readonly Expression[], sizes: Sizes): number =>
  total(of.map((one) => stepsOf(one, sizes)));
const mostOfAll = (of: readonly Expression[], sizes: Sizes): number =>
  total(of.map((one) => mostItems(one, sizes)));
