import { NotAFormula, type Token } from "./formula-tokens.ts";
import { wayOutOf } from "./not-in-formulas.ts";

export const DEPTH_MOST = 32;

/** What a part of a formula is, in the words of a refusal. */
export const TYPES = { number: "number", boolean: "comparison", list: "list" } as const;
export type Type = keyof typeof TYPES;

export interface Reader {
  readonly next: () => Token;
  /** The token behind the next one. */
  readonly second: () => Token;
  readonly take: () => Token;
  /** Takes the sign where it is next. */
  readonly takes: (sign: string) => boolean;
  readonly needs: (sign: string) => void;
  readonly deeper: <Result>(read: () => Result) => Result;
  /** True where `#` is an item of the list of a predicate. */
  inPredicate: boolean;
  /** The names of `let` that are known here. */
  locals: ReadonlyMap<string, Type>;
}

export const readerOf = (tokens: readonly Token[]): Reader => {
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
    second: () => tokens[position + 1] ?? end,
    take,
    takes,
    needs: (sign) => {
      if (!takes(sign))
        throw new NotAFormula(next().at, `expected "${sign}", and found ${tokenWords(next())}`);
    },
    deeper: (read) => {
      if (++depth > DEPTH_MOST)
        throw new NotAFormula(next().at, `a formula is at most ${DEPTH_MOST} levels deep`);
      const result = read();
      depth--;
      return result;
    },
    inPredicate: false,
    locals: new Map(),
  };
};

export const tokenWords = ({ kind, text }: Token): string => (kind === "end" ? text : `"${text}"`);
export const notExpected = (token: Token): NotAFormula =>
  new NotAFormula(token.at, `${tokenWords(token)} is not expected here${wayOutOf(token.text)}`);
