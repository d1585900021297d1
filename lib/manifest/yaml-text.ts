import { Composer, type Document, Lexer, type LineCounter, Parser } from "yaml";
import { type Budget, MAX_DEPTH } from "./budget.ts";
import type { Whereabouts } from "./errors.ts";

type Place = number | readonly number[] | { readonly offset: number };

/** The first thing that is wrong with a text, and where. Reading stops there: a hostile text has a fault at every character. */
export class YamlFault extends Error {
  readonly offset: number;

  constructor(message: string, place: Place) {
    super(message);
    this.offset = typeof place === "number" ? place : "offset" in place ? place.offset : (place[0] ?? 0);
  }
}

/** How often the processor time is looked at. */
const LEXEMES_BETWEEN_LOOKS = 10_000;

/** The documents of a text, each as soon as it is complete. Throws `YamlFault` at the first fault and `manifest.unreadable` at the first limit. */
export function* yamlDocuments(text: string, counter: LineCounter, budget: Budget, at: Whereabouts): Generator<Document.Parsed> {
  const parser = new Parser(counter.addNewLine);
  const composer = composerThatStops();
  counter.addNewLine(0);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    budget.spend("lexemes", 1, at);
    if (++lexemes % LEXEMES_BETWEEN_LOOKS === 0) budget.checkTime(at);
    yield* composed(composer, parser.next(lexeme), budget, at);
    if (parser.stack.length > MAX_DEPTH) throw new YamlFault("it is nested too deeply", parser.offset);
  }
  yield* composed(composer, parser.end(), budget, at);
  yield* composer.end();
}

type Tokens = ReturnType<Parser["end"]>;

function* composed(composer: Composer, tokens: Tokens, budget: Budget, at: Whereabouts): Generator<Document.Parsed> {
  for (const token of tokens) {
    if (token.type === "error") throw new YamlFault(token.message, token.offset);
    // A mark for the end of a document that does not exist is counted like a document.
    if (token.type === "document" || token.type === "doc-end") {
      budget.spend("documents", 1, at);
      budget.checkTime(at);
    }
    yield* composer.next(token);
  }
}

/**
 * YAML 1.2, of which JSON is a part; merge keys are in wide use in manifests. The parser's own search for duplicate keys takes time with the square of their number.
 * The parser collects every fault with its stack, which costs more than the rest of the work: the first one ends it here, and a warning counts as one, because a tag that
 * is not known would change the meaning of what follows.
 */
const composerThatStops = (): Composer => {
  let first: YamlFault | undefined;
  return Object.assign(new Composer({ prettyErrors: false, uniqueKeys: false, merge: true, version: "1.2", logLevel: "error" }), {
    onError: (place: Place, _code: string, message: string): never => {
      // The parser catches what is thrown inside a list or an object, and reports it again at that list's place.
      first ??= new YamlFault(message, place);
      throw first;
    },
  });
};
