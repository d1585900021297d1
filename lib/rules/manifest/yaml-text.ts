import {
  Composer,
  type Document,
  Lexer,
  type LineCounter,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  Scalar,
} from "yaml";
import { type Budget, MAX_DEPTH, MAX_ALIASES } from "./budget.ts";
import type { SourcePosition } from "./errors.ts";

type YamlPosition = number | readonly number[] | { readonly offset: number };

/**
 * The first fault of a text, with its offset. Reading stops there, because a hostile text has a
 * fault at every character.
 */
export class YamlFault extends Error {
  readonly offset: number;

  constructor(message: string, position: YamlPosition) {
    super(message);
    this.offset =
      typeof position === "number"
        ? position
        : "offset" in position
          ? position.offset
          : (position[0] ?? 0);
  }
}

/** Tokens between two checks of the processor time. */
const LEXEMES_BETWEEN_LOOKS = 10_000;

/**
 * Yields the documents of a text, each when it is complete. Throws `YamlFault` at the first fault
 * and `manifest.unreadable` at the first limit.
 */
export function* yamlDocuments(
  text: string,
  counter: LineCounter,
  budget: Budget,
  at: SourcePosition,
): Generator<Document.Parsed> {
  const parser = new Parser(counter.addNewLine);
  const composer = composerThatStops();
  counter.addNewLine(0);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    budget.spend("lexemes", 1, at);
    if (++lexemes % LEXEMES_BETWEEN_LOOKS === 0) budget.checkTime(at);
    yield* composed(composer, parser.next(lexeme), budget, at);
    if (parser.stack.length > MAX_DEPTH)
      throw new YamlFault(`it is nested more than ${MAX_DEPTH} levels deep`, parser.offset);
  }
  yield* composed(composer, parser.end(), budget, at);
  yield* composer.end();
}

type Tokens = ReturnType<Parser["end"]>;

function* composed(
  composer: Composer,
  tokens: Tokens,
  budget: Budget,
  at: SourcePosition,
): Generator<Document.Parsed> {
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
 * YAML 1.2, which includes JSON, with merge keys, which are common in manifests. The parser's own
 * search for duplicate keys takes quadratic time, so it is off. The parser would collect every
 * fault with its stack, which costs more than the rest. So the first fault stops it. A warning
 * counts as a fault, because an unknown tag changes the meaning of what follows.
 */
const composerThatStops = (): Composer => {
  let first: YamlFault | undefined;
  return Object.assign(
    new Composer({
      prettyErrors: false,
      uniqueKeys: false,
      merge: true,
      version: "1.2",
      logLevel: "error",
    }),
    {
      onError: (position: YamlPosition, _code: string, message: string): never => {
        // The parser catches an error inside a list or an object, and reports it again at the place
        // of that list.
        first ??= new YamlFault(message, position);
        throw first;
      },
    },
  );
};

export interface RepeatedKey {
  readonly name: string;
  readonly offset: number;
}

interface Inspection {
  /** Nodes below each anchor; "open" while they are being counted. */
  readonly anchors: Map<string, number | "open">;
  readonly repeatedKeys: RepeatedKey[];
  /** The first value that Kubernetes would read differently. */
  ambiguous: YamlFault | undefined;
  aliases: number;
}

/**
 * Visits every node once, before the document becomes values. Keys and values are counted, and what
 * an alias repeats is counted again. Throws `YamlFault` for keys that are not texts, and for more
 * aliases than the limit.
 */
export const inspectNodes = ({
  contents,
}: Document.Parsed): Pick<Inspection, "repeatedKeys" | "ambiguous"> & {
  readonly nodes: number;
} => {
  const inspection: Inspection = {
    anchors: new Map(),
    repeatedKeys: [],
    ambiguous: undefined,
    aliases: 0,
  };
  const nodes = nodesOf(contents, inspection);
  return { nodes, ...inspection };
};

const nodesOf = (node: unknown, inspection: Inspection): number => {
  if (isAlias(node)) return nodesOfAlias(node.source, startOf(node), inspection);
  const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
  if (anchor !== undefined) inspection.anchors.set(anchor, "open");
  const nodes = 1 + nodesBelow(node, inspection);
  if (anchor !== undefined) inspection.anchors.set(anchor, nodes);
  return nodes;
};

const nodesBelow = (node: unknown, inspection: Inspection): number => {
  if (isScalar(node)) inspection.ambiguous ??= ambiguityOf(node);
  if (isSeq(node))
    return node.items.reduce((sum: number, item) => sum + nodesOf(item, inspection), 0);
  return isMap(node) ? nodesOfMap(node.items, inspection) : 0;
};

const nodesOfMap = (pairs: readonly Pair[], inspection: Inspection): number => {
  const names = new Set<string>();
  let nodes = 0;
  for (const { key, value } of pairs) {
    const name = nameOf(key);
    if (names.has(name)) inspection.repeatedKeys.push({ name, offset: startOf(key) });
    names.add(name);
    nodes += nodesOf(key, inspection) + nodesOf(value, inspection);
  }
  return nodes;
};

/** Names are compared as in JSON, where the number 1 and the text "1" are the same name. */
const nameOf = (key: unknown): string => {
  if (isScalar(key)) return String(key.value);
  throw new YamlFault("a key must be a text, not a list, an object or an alias", startOf(key));
};

const nodesOfAlias = (source: string, start: number, inspection: Inspection): number => {
  if (++inspection.aliases > MAX_ALIASES)
    throw new YamlFault(`it has more than ${MAX_ALIASES} aliases`, start);
  const nodes = inspection.anchors.get(source);
  if (nodes === "open") throw new YamlFault("an anchor contains itself", start);
  if (nodes === undefined)
    throw new YamlFault(`the alias "${source}" has no anchor before it`, start);
  return nodes;
};

/** Words that YAML 1.1, and so Kubernetes, reads as true or false. */
const FORMER_BOOLEAN = /^(?:y|yes|n|no|on|off)$/i;
const LEADING_ZERO = /^[-+]?0\d/;

/**
 * The fault of a value that Kubernetes would read differently, because the meaning cannot be
 * guessed.
 */
const ambiguityOf = (node: Scalar): YamlFault | undefined => {
  if (node.type !== Scalar.PLAIN) return undefined;
  const { value, source = "" } = node;
  if (typeof value === "string" && FORMER_BOOLEAN.test(value))
    return new YamlFault(
      `the word ${value} without quotes is a boolean for Kubernetes: write "${value}" in quotes, or true or false`,
      startOf(node),
    );
  if (typeof value === "number" && LEADING_ZERO.test(source))
    return new YamlFault(
      `the number ${source} is octal for Kubernetes: write it without the leading 0, or in quotes`,
      startOf(node),
    );
  return undefined;
};

const startOf = (node: unknown): number =>
  (node as { readonly range?: readonly number[] | null } | null)?.range?.[0] ?? 0;
