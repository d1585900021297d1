import { wayOutOf } from "./not-in-formulas.ts";

export interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

export class NotAFormula extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const TOKEN =
  /((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(?:\*\*|\?\?|&&|\|\||[<>=!]=|[-+*/%^<>!?:,;=()[\]{}#])/y;
const SPACE = /\s*/y;

/** Other spellings of expr-lang. */
const SAME: Readonly<Record<string, string>> = { "**": "^", and: "&&", or: "||", not: "!" };

export const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  for (let from = startOfToken(text, 0); from < text.length; ) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (!found) {
      const sign = [...text.slice(from)][0] ?? "";
      throw new NotAFormula(
        from + 1,
        `${JSON.stringify(sign)} is no part of a formula${wayOutOf(sign)}`,
      );
    }
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
