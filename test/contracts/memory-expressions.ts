import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** An item as requests carry it. */
export type Item = Record<string, AttributeValue>;

/** Where the names and values of an expression come from. */
export interface Terms {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, AttributeValue>>;
}

type Value = AttributeValue | undefined;
type Reader = (item: Item, terms: Terms) => Value;
export type Condition = (item: Item, terms: Terms) => boolean;

const TOKEN = /\s*([A-Za-z_:#][\w:#]*|<=|>=|<>|[=<>(),.+])/y;

const tokensOf = (text: string): readonly string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text)?.[1];
    if (found === undefined) throw new SyntaxError(`cannot read the expression "${text}"`);
    tokens.push(found);
  }
  return tokens;
};

/**
 * Plain text or number of a value, for comparisons: the engine compares keys and counters, nothing
 * else.
 */
const plain = (value: Value): string | number | undefined =>
  value?.N === undefined ? value?.S : Number(value.N);

const COMPARE: Readonly<Record<string, (one: string | number, other: string | number) => boolean>> =
  {
    "=": (one, other) => one === other,
    "<": (one, other) => one < other,
    "<=": (one, other) => one <= other,
    ">": (one, other) => one > other,
    ">=": (one, other) => one >= other,
  };

/**
 * A reader of the expressions that this project writes: recursive descent over their tokens, the
 * part of the language that is used and no more.
 */
class Parser {
  private at = 0;
  private readonly tokens: readonly string[];

  constructor(text: string) {
    this.tokens = tokensOf(text);
  }

  get done(): boolean {
    return this.at >= this.tokens.length;
  }

  peek(): string {
    return this.tokens[this.at] ?? "";
  }

  take(expected?: string): string {
    const token = this.peek();
    if (expected !== undefined && token !== expected)
      throw new SyntaxError(`"${expected}" was expected, not "${token}"`);
    this.at++;
    return token;
  }

  maybe(token: string): boolean {
    if (this.peek() !== token) return false;
    this.at++;
    return true;
  }

  /** Names of a path, `#` names resolved when it is read. */
  path(): readonly string[] {
    const names = [this.take()];
    while (this.maybe(".")) names.push(this.take());
    return names;
  }

  operand(): Reader {
    if (this.peek().startsWith(":")) {
      const name = this.take();
      return (_item, { values }) => values[name];
    }
    if (this.maybe("if_not_exists")) {
      this.take("(");
      const path = this.path();
      this.take(",");
      const otherwise = this.operand();
      this.take(")");
      return (item, terms) => read(item, path, terms) ?? otherwise(item, terms);
    }
    const path = this.path();
    return (item, terms) => read(item, path, terms);
  }

  sum(): Reader {
    const first = this.operand();
    if (!this.maybe("+")) return first;
    const second = this.operand();
    return (item, terms) => ({
      N: String(Number(plain(first(item, terms))) + Number(plain(second(item, terms)))),
    });
  }

  or(): Condition {
    let condition = this.and();
    while (this.maybe("OR")) {
      const [left, right] = [condition, this.and()];
      condition = (item, terms) => left(item, terms) || right(item, terms);
    }
    return condition;
  }

  and(): Condition {
    let condition = this.clause();
    while (this.maybe("AND")) {
      const [left, right] = [condition, this.clause()];
      condition = (item, terms) => left(item, terms) && right(item, terms);
    }
    return condition;
  }

  clause(): Condition {
    if (this.maybe("(")) {
      const inner = this.or();
      this.take(")");
      return inner;
    }
    if (this.maybe("attribute_not_exists")) {
      this.take("(");
      const path = this.path();
      this.take(")");
      return (item, terms) => read(item, path, terms) === undefined;
    }
    if (this.maybe("attribute_exists")) {
      this.take("(");
      const path = this.path();
      this.take(")");
      return (item, terms) => read(item, path, terms) !== undefined;
    }
    if (this.maybe("begins_with")) {
      this.take("(");
      const [path, , prefix] = [this.path(), this.take(","), this.operand()];
      this.take(")");
      return (item, terms) =>
        String(plain(read(item, path, terms)) ?? "").startsWith(String(plain(prefix(item, terms))));
    }
    const left = this.operand();
    if (this.maybe("BETWEEN")) {
      const [low, , high] = [this.operand(), this.take("AND"), this.operand()];
      return (item, terms) =>
        compare(">=", left(item, terms), low(item, terms)) &&
        compare("<=", left(item, terms), high(item, terms));
    }
    const [operator, right] = [this.take(), this.operand()];
    return (item, terms) => compare(operator, left(item, terms), right(item, terms));
  }
}

/**
 * A comparison with something absent, or of a number with text, is false: never an error, as in the
 * service.
 */
const compare = (operator: string, left: Value, right: Value): boolean => {
  const [one, other] = [plain(left), plain(right)];
  const holds = COMPARE[operator];
  if (!holds) throw new SyntaxError(`the operator "${operator}" is not known`);
  return (
    one !== undefined && other !== undefined && typeof one === typeof other && holds(one, other)
  );
};

const nameOf = (name: string, { names }: Terms): string =>
  name.startsWith("#") ? (names[name] ?? "") : name;

const read = (item: Item, [first = "", ...deeper]: readonly string[], terms: Terms): Value => {
  let value: Value = item[nameOf(first, terms)];
  for (const name of deeper) value = value?.M?.[nameOf(name, terms)];
  return value;
};

/** Reads a text once, however often it is asked for. */
export const cached = <Result>(parse: (text: string) => Result): ((text: string) => Result) => {
  const known = new Map<string, Result>();
  return (text) => {
    const result = known.get(text) ?? parse(text);
    if (known.size < CACHE_MAX) known.set(text, result);
    return result;
  };
};
const CACHE_MAX = 1_000;

export const conditionOf = cached((text: string): Condition => {
  const parser = new Parser(text);
  const condition = parser.or();
  if (!parser.done) throw new SyntaxError(`"${parser.peek()}" is left over`);
  return condition;
});

/**
 * The item after an expression of SET and REMOVE. Every value is worked out on the item as it was;
 * a path into a map that is not there is refused, as by the service.
 */
export const updateOf = cached((text: string): ((item: Item, terms: Terms) => Item) => {
  const parser = new Parser(text);
  const assignments: { readonly path: readonly string[]; readonly value: Reader | undefined }[] =
    [];
  if (parser.maybe("SET")) {
    do {
      const path = parser.path();
      parser.take("=");
      assignments.push({ path, value: parser.sum() });
    } while (parser.maybe(","));
  }
  if (parser.maybe("REMOVE")) {
    do assignments.push({ path: parser.path(), value: undefined });
    while (parser.maybe(","));
  }
  if (!parser.done) throw new SyntaxError(`"${parser.peek()}" is left over`);
  return (item, terms) => {
    const after = { ...item };
    for (const { path, value } of assignments) {
      const found = value?.(item, terms);
      if ((value && !found) || !assign(after, path, found, terms)) {
        throw Object.assign(new Error(`the path "${path.join(".")}" is not valid for update`), {
          name: "ValidationException",
        });
      }
    }
    return after;
  };
});

/**
 * Sets one value of a new item, or removes it where there is none, in copies of the maps on its
 * path; false where the path leads through a map that is not there.
 */
const assign = (
  item: Item,
  [first = "", ...deeper]: readonly string[],
  value: Value,
  terms: Terms,
): boolean => {
  const name = nameOf(first, terms);
  if (deeper.length === 0) {
    if (value === undefined) delete item[name];
    else item[name] = value;
    return true;
  }
  const inner = item[name]?.M;
  if (!inner) return false;
  const copy = { ...inner };
  item[name] = { M: copy };
  return assign(copy, deeper, value, terms);
};
