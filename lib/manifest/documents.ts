import { type Document, isScalar, LineCounter, parseAllDocuments, visit } from "yaml";
import { manifestUnreadable, type Whereabouts } from "./errors.ts";
import { linesOf } from "./lines.ts";
import { isObject } from "./shape.ts";

/** One manifest of a text, as plain JSON, and where it stood. */
export interface ManifestDocument {
  readonly document: unknown;
  /** For messages: "hpa.yaml", or "hpa.yaml, document 2, items[3]" where the text holds several. */
  readonly where: string;
  /** Line of a field such as "spec.metrics[0].type", or of what encloses it where it is absent. */
  readonly lineOf: (field: string) => number | undefined;
}

/** A whole input; its tree takes tens of times as much memory. A larger one is cut into files. */
export const MAX_TEXT_CHARACTERS = 2 * 1024 * 1024;
/** Manifests of one input, more than any one cluster should get in one step. */
export const MAX_MANIFESTS = 5_000;
/** One manifest as JSON: a record of a change holds two of them, and an item of the table 400 KB. */
export const MAX_MANIFEST_BYTES = 128 * 1024;
/** References to anchors, counted with what they repeat: a small text must not become a large document. */
export const MAX_ALIASES = 100;
/** A List of Lists is read, a nest of them is not. */
const MAX_LIST_DEPTH = 3;

/**
 * Reads YAML or JSON: several documents, `List` and lists of a kind such as HorizontalPodAutoscalerList, empty documents passed over.
 * Throws `manifest.unreadable` with line and column, or the document's number.
 */
export const readManifests = (text: string, fileName: string): readonly ManifestDocument[] => {
  if (text.length > MAX_TEXT_CHARACTERS) {
    throw manifestUnreadable(
      { where: fileName },
      `it has ${text.length} characters, and at most ${MAX_TEXT_CHARACTERS} are read; cut it into several files`,
    );
  }
  const counter = new LineCounter();
  const documents = parsed(text, fileName, counter).filter(({ contents }) => !isEmpty(contents));
  const manifests = documents.flatMap((document, index) => {
    const place = { where: fileName, ...(documents.length > 1 && { document: index + 1 }) };
    return flattened(plain(document, place), { place, suffix: "", line: linesOf(document, counter), prefix: "", depth: 0 });
  });
  if (manifests.length === 0) throw manifestUnreadable({ where: fileName }, "it holds no manifest");
  if (manifests.length > MAX_MANIFESTS) {
    throw manifestUnreadable(
      { where: fileName },
      `it holds ${manifests.length} manifests, and at most ${MAX_MANIFESTS} are read; cut it into several files`,
    );
  }
  return manifests;
};

const isEmpty = (contents: unknown): boolean => contents === null || (isScalar(contents) && contents.value === null);

const parsed = (text: string, fileName: string, counter: LineCounter): readonly Document.Parsed[] => {
  const documents = attempt({ where: fileName }, () => [
    // YAML 1.2, of which JSON is a part; merge keys are in wide use in manifests. The parser's own search for duplicate keys takes time with the square of their number.
    ...parseAllDocuments(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: false, merge: true, version: "1.2" }),
  ]);
  // A tag that is not known would change the meaning of what follows, so a warning counts as an error.
  const faultsOf = (document: Document.Parsed) => [...document.errors, ...document.warnings, ...duplicateKeys(document)];
  const fault = attempt({ where: fileName }, () => documents.flatMap(faultsOf))[0];
  if (!fault) return documents;
  const { line, col } = counter.linePos(fault.pos[0]);
  throw manifestUnreadable({ where: fileName, line, column: col }, whyOf(fault), fault instanceof Error ? fault : undefined);
};

interface Fault {
  readonly message: string;
  readonly pos: readonly [number, number];
}

const duplicateKeys = (document: Document.Parsed): readonly Fault[] => {
  const faults: Fault[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const [start, end] = key.range ?? [0, 0];
        // As JSON has it, where the number 1 and the text "1" are one name.
        const name = String(key.value);
        if (seen.has(name)) faults.push({ message: `the key "${name}" is written twice`, pos: [start, end] });
        seen.add(name);
      }
    },
  });
  return faults;
};

const plain = (document: Document.Parsed, place: Whereabouts): unknown => attempt(place, () => document.toJS({ maxAliasCount: MAX_ALIASES }));

/** The parser throws for anchors that repeat too much or hold themselves, and runs out of stack on a hostile nesting: faults of the text, all of them. */
const attempt = <Result>(place: Whereabouts, read: () => Result): Result => {
  try {
    return read();
  } catch (cause) {
    throw manifestUnreadable(place, whyOf(cause), cause);
  }
};

const whyOf = (cause: unknown): string => {
  const message = cause instanceof Error ? cause.message : String((cause as Fault).message);
  if (message.includes("call stack")) return "it is nested too deeply";
  if (message.includes("circular structure")) return "an anchor holds itself";
  return sentence(message);
};

const sentence = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);

interface Position {
  readonly place: Whereabouts;
  /** Of `where`, for items of lists. */
  readonly suffix: string;
  /** Path of the item inside its document. */
  readonly prefix: string;
  readonly depth: number;
  readonly line: (path: string) => number | undefined;
}

const flattened = (value: unknown, at: Position): readonly ManifestDocument[] => {
  if (isObject(value) && typeof value["kind"] === "string" && value["kind"].endsWith("List")) return itemsOf(value, at);
  const numbered = at.place.document === undefined ? at.place.where : `${at.place.where}, document ${at.place.document}`;
  const where = `${numbered}${at.suffix}`;
  const bytes = attempt({ where }, () => Buffer.byteLength(JSON.stringify(value)));
  if (bytes > MAX_MANIFEST_BYTES) throw manifestUnreadable({ where }, `it has ${bytes} bytes, and at most ${MAX_MANIFEST_BYTES} are kept`);
  return [{ document: value, where, lineOf: (field) => at.line(at.prefix + field) }];
};

const itemsOf = (list: Readonly<Record<string, unknown>>, at: Position): readonly ManifestDocument[] => {
  const items = list["items"] ?? [];
  if (!Array.isArray(items)) throw manifestUnreadable(at.place, `"items" of a ${String(list["kind"])} must be a list`);
  if (at.depth >= MAX_LIST_DEPTH) throw manifestUnreadable(at.place, `lists are nested more than ${MAX_LIST_DEPTH} deep`);
  return items.flatMap((item: unknown, index) =>
    flattened(typed(item, list), {
      ...at,
      suffix: `${at.suffix}, items[${index}]`,
      prefix: `${at.prefix}items[${index}].`,
      depth: at.depth + 1,
    }),
  );
};

/** An item of a typed list can leave its kind to the list; those of a plain List say their own. */
const typed = (item: unknown, { apiVersion, kind }: Readonly<Record<string, unknown>>): unknown => {
  if (!isObject(item) || kind === "List") return item;
  return { apiVersion, kind: String(kind).slice(0, -"List".length), ...item };
};
