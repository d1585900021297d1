import { Composer, type Document, Lexer, type LineCounter, Parser } from "yaml";
import { type Budget, MAX_DEPTH } from "./budget.ts";
import type { SourcePosition } from "./errors.ts";

type YamlPosition = number | readonly number[] | { readonly offset: number };

/** The first fault of a text, with its offset. Reading stops there, because a hostile text has a fault at every character. */
export class YamlFault extends Error {
  readonly offset: number;

  constructor(message: string, position: YamlPosition) {
    super(message);
    this.offset = typeof position === "number" ? position : "offset" in position ? position.offset : (position[0] ?? 0);
  }
}

/** Tokens between two checks of the processor time. */
const LEXEMES_BETWEEN_LOOKS = 10_000;

/** Yields the documents of a text, each when it is complete. Throws `YamlFault` at the first fault and `manifest.unreadable` at the first limit. */
export function* yamlDocuments(text: string, counter: LineCounter, budget: Budget, at: SourcePosition): Generator<Document.Parsed> {
  const parser = new Parser(counter.addNewLine);
  const composer = composerThatStops();
  counter.addNewLine(0);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    budget.spend("lexemes", 1, at);
    if (++lexemes % LEXEMES_BETWEEN_LOOKS === 0) budget.checkTime(at);
    yield* composed(composer, parser.next(lexeme), budget, at);
    if (parser.stack.length > MAX_DEPTH) throw new YamlFault(`it is nested more than ${MAX_DEPTH} levels deep`, parser.offset);
  }
  yield* composed(composer, parser.end(), budget, at);
  yield* composer.end();
}

type Tokens = ReturnType<Parser["end"]>;

function* composed(composer: Composer, tokens: Tokens, budget: Budget, at: SourcePosition): Generator<Document.Parsed> {
  for (const token of tokens) {
    if (token.type === "error") throw new YamlFault(token.message, token.offset);
    // The end mark of an empty document counts as a document.
    if (token.type === "document" || token.type === "doc-end") {
      budget.spend("documents", 1, at);
      budget.checkTime(at);
    }
    yield* composer.next(token);
  }
}

/**
 * YAML 1.2, which includes JSON, with merge keys, which are common in manifests. The parser's own search for duplicate keys takes quadratic time, so it is off.
 * The parser would collect every fault with its stack, which costs more than the rest. So the first fault stops it. A warning counts as a fault, because an unknown
 * tag changes the meaning of what follows.
 */
const composerThatStops = (): Composer => {
  let first: YamlFault | undefined;
  return Object.assign(new Composer({ prettyErrors: false, uniqueKeys: false, merge: true, version: "1.2", logLevel: "error" }), {
    onError: (position: YamlPosition, _code: string, message: string): never => {
      // The parser catches an error inside a list or an object, and reports it again at the place of that list.
      first ??= new YamlFault(message, position);
      throw first;
    },
  });
};
