import { INTEGER, type Requirement, type SelectorReading } from "./selector.ts";

/**
 * Reads the selector text of a scale: `app=web,tier in (front,back),!legacy`. A refusal has the
 * message of the Kubernetes API, because the condition InvalidSelector quotes it (hpa.md 2.5).
 */
export const parseSelector = (text: string): SelectorReading => {
  const known = readings.get(text);
  if (known) return known;
  const reading = readingOf(text);
  if (text.length > KEPT_CHARACTERS_MAX) return reading;
  if (readings.size >= KEPT_MAX) readings.clear();
  readings.set(text, reading);
  return reading;
};

/**
 * Readings of the texts that came last. Each sync needs the selector of a workload several times,
 * and it is the same in every sync.
 */
const readings = new Map<string, SelectorReading>();
/** Some 2 MB of readings. */
const KEPT_MAX = 5_000;
/** The selector of almost every workload is shorter. */
const KEPT_CHARACTERS_MAX = 200;

const readingOf = (text: string): SelectorReading => {
  try {
    return { kind: "selector", selector: readRequirements(new Tokens(text)) };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "invalid", message: error.message };
    throw error;
  }
};

/** Ends the nested readers. It is thrown and caught in this file only. */
class Unreadable extends Error {}

const END = "";
const SYMBOLS = new Set(["=", "==", "!=", "!", "(", ")", ",", ">", "<"]);
/**
 * A symbol of two letters comes before its first letter. All other text up to a symbol or a blank
 * is a word.
 */
const TOKEN = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;

class Tokens {
  private readonly tokens: readonly string[];
  private position = 0;

  constructor(text: string) {
    const tokens: string[] = [];
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text))
      tokens.push(match[1] ?? END);
    this.tokens = tokens;
  }

  peek(): string {
    return this.tokens[this.position] ?? END;
  }

  take(): string {
    const token = this.peek();
    this.position++;
    return token;
  }
}

const isWord = (token: string): boolean => token !== END && !SYMBOLS.has(token);
const expected = (met: string, wanted: string): string => `found '${met}', expected: ${wanted}`;
/** A problem inside a requirement; any other is one between requirements. */
const unparsable = (problem: string): Unreadable =>
  new Unreadable(`unable to parse requirement: ${problem}`);

const readRequirements = (tokens: Tokens): readonly Requirement[] => {
  const requirements: Requirement[] = [];
  if (tokens.peek() === END) return requirements;
  if (!startsRequirement(tokens.peek()))
    throw new Unreadable(expected(tokens.peek(), "!, identifier, or 'end of string'"));
  for (;;) {
    requirements.push(readRequirement(tokens));
    const next = tokens.take();
    if (next === END) return requirements;
    if (next !== ",") throw new Unreadable(expected(next, "',' or 'end of string'"));
    if (!startsRequirement(tokens.peek()))
      throw new Unreadable(expected(tokens.peek(), "identifier after ','"));
  }
};

const startsRequirement = (token: string): boolean => isWord(token) || token === "!";

const readRequirement = (tokens: Tokens): Requirement => {
  const negated = tokens.peek() === "!";
  if (negated) tokens.take();
  const key = tokens.take();
  if (!isWord(key)) throw unparsable(expected(key, "identifier"));
  if (negated) return { key, operator: "!", values: [] };
  if (tokens.peek() === END || tokens.peek() === ",")
    return { key, operator: "exists", values: [] };
  const operator = readOperator(tokens.take());
  const values =
    operator === "in" || operator === "notin" ? readValues(tokens) : [readValue(tokens)];
  return checked({ key, operator, values });
};

const OPERATORS: ReadonlyMap<string, Requirement["operator"]> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

const readOperator = (token: string): Requirement["operator"] => {
  const operator = OPERATORS.get(token);
  if (!operator) throw unparsable(expected(token, "in, notin, =, ==, !=, gt, lt"));
  return operator;
};

/** The value may be absent: `app=` selects the empty label. */
const readValue = (tokens: Tokens): string => {
  if (tokens.peek() === END || tokens.peek() === ",") return "";
  const value = tokens.take();
  if (!isWord(value)) throw unparsable(expected(value, "identifier"));
  return value;
};

const readValues = (tokens: Tokens): readonly string[] => {
  const opening = tokens.take();
  if (opening !== "(") throw unparsable(`found '${opening}' expected: '('`);
  const values = new Set<string>();
  if (tokens.peek() === ")") return [];
  for (;;) {
    // Nothing between commas or parentheses is the empty value.
    values.add(isWord(tokens.peek()) ? tokens.take() : "");
    const next = tokens.take();
    if (next === ")") return [...values];
    if (next !== ",") throw unparsable(expected(next, "',' or ')'"));
  }
};

const checked = (requirement: Requirement): Requirement => {
  const { operator, values } = requirement;
  const value = values[0] ?? "";
  if ((operator === "in" || operator === "notin") && values.length === 0)
    throw unparsable(
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    );
  if ((operator === "gt" || operator === "lt") && !INTEGER.test(value))
    throw unparsable(
      `values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  return requirement;
};
