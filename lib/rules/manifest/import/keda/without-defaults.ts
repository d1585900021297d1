import { type Token, tokensOf } from "../../../sources/formula-tokens.ts";
import { readExpression } from "../../../sources/read-expression.ts";

/**
 * The text of a formula without its defaults: `a ?? 0` is `a`. Where it cannot be read it stays as
 * it is, and is refused when it is admitted.
 */
export const withoutDefaults = (text: string): string => {
  if (readExpression(text).kind === "refused") return text;
  const tokens = tokensOf(text);
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.text !== "??" || token.at - 1 < from) continue;
    kept.push(text.slice(from, token.at - 1).trimEnd());
    const end = operandEnd(tokens, at + 1);
    const last = tokens[end];
    from = last === undefined ? text.length : last.at - 1 + last.text.length;
  }
  return [...kept, text.slice(from)].join("");
};

const SIGNS: ReadonlySet<string> = new Set(["-", "+"]);

/** The place of the last token of the operand that begins at `at`: a name, a call or brackets. */
const operandEnd = (tokens: readonly Token[], at: number): number => {
  const text = (place: number): string => tokens[place]?.text ?? "";
  if (SIGNS.has(text(at))) return operandEnd(tokens, at + 1);
  const opens = tokens[at]?.kind === "name" ? at + 1 : at;
  if (text(opens) !== "(") return at;
  let depth = 1;
  let end = opens;
  while (depth > 0 && end < tokens.length - 1) {
    end++;
    depth += text(end) === "(" ? 1 : text(end) === ")" ? -1 : 0;
  }
  return end;
};
