const ONE_ITEM = "a formula takes no single item of a list: name the metric itself";
const ORDER = "no function of a formula depends on the order of a list: leave it out";
const TEXTS = "a formula has numbers only: let the source answer with a number";
const TIMES = "a formula knows no times: write the hours as spec.schedule";
const BITS = "write the arithmetic, with % and floor";

const SAID: readonly (readonly [wayOut: string, ...parts: readonly string[]])[] = [
  [ONE_ITEM, "find", "findLast", "findIndex", "findLastIndex", "first", "last", "take", "get"],
  [ORDER, "sort", "sortBy", "reverse"],
  ["write one list of all its items", "concat", "flatten"],
  ["write each item of the list once", "uniq"],
  ["write sum, min, max or the operators", "reduce"],
  ["write a test of the list for each group", "groupBy", "countBy"],
  ["a formula has no maps: write a list", "keys", "values", "toPairs", "fromPairs"],
  [TIMES, "now", "date", "duration", "timezone"],
  [TEXTS, "string", "trim", "trimPrefix", "trimSuffix", "upper", "lower", "split", "splitAfter"],
  [TEXTS, "replace", "repeat", "join", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix"],
  [TEXTS, "toJSON", "fromJSON", "toBase64", "fromBase64", '"', "'", "`"],
  [TEXTS, "contains", "matches", "startsWith", "endsWith"],
  [BITS, "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr"],
  ["every value is a number: leave it out", "type"],
  ["write a == 1 || a == 2", "in"],
  ["write a ?? 0 for a value that is missing", "nil"],
  ["write a comparison, such as a > 0", "true", "false"],
  ["write the function around its list: max([a, b])", "|"],
  ["a name has letters, digits and _, and a list has each of its numbers", ".", "$"],
];

const WAYS_OUT: ReadonlyMap<string, string> = new Map(
  SAID.flatMap(([wayOut, ...parts]) => parts.map((part) => [part, wayOut] as const)),
);

/**
 * What to write in place of a part of expr-lang that formulas do not have, after a semicolon; empty
 * for a text that is no part of expr-lang either.
 */
export const wayOutOf = (part: string): string => {
  const wayOut = WAYS_OUT.get(part);
  return wayOut === undefined ? "" : `; ${wayOut}`;
};

/** True for a word that expr-lang has for something else, so that it is no name of a metric. */
export const isOtherWord = (name: string): boolean => WORDS.has(name);
const WORDS: ReadonlySet<string> = new Set(["nil", "true", "false"]);
