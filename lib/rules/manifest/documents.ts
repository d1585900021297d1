import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { isObject, type Json } from "../model/json.ts";
import {
  type Budget,
  MAX_ALIASES,
  MAX_LIST_DEPTH,
  MAX_MANIFEST_BYTES,
  MAX_TEXT_BYTES,
  newBudget,
} from "./budget.ts";
import { manifestUnreadable, type SourcePosition } from "./errors.ts";
import type { OtherKinds } from "./other-kinds.ts";
import { inspectNodes, type RepeatedKey, YamlFault, yamlDocuments } from "./yaml-text.ts";

/** One manifest of a text as plain JSON, with its place. */
export interface ManifestDocument {
  readonly document: unknown;
  /** For messages: "hpa.yaml", or "hpa.yaml, document 2, items[3]" when the text has several. */
  readonly where: string;
  /**
   * Line of a field such as "spec.metrics[0].type", or of the enclosing field when it is absent.
   */
  readonly lineOf: (field: string) => number | undefined;
  /**
   * Keys that the document repeats, with their lines; only when they are kept. Of several manifests
   * in one document the first has them.
   */
  readonly repeatedKeys?: readonly { readonly name: string; readonly line: number }[];
}

export interface ReadOptions {
  /** The budget of the step; the default is a new one. */
  readonly budget?: Budget;
  /** The default is "refuse". When they are kept the last one counts, as in Kubernetes. */
  readonly repeatedKeys?: "refuse" | "keep";
  /**
   * Counts objects of other kinds, which are then passed over. Without it they are manifests too.
   */
  readonly otherKinds?: OtherKinds;
}

/**
 * Reads YAML or JSON with several documents, `List` and lists of a kind such as
 * HorizontalPodAutoscalerList. Empty documents are skipped. Throws `manifest.unreadable` with line
 * and column, or the number of the document. Each limit of budget.ts is checked before the work
 * that it bounds.
 */
export const readManifests = (
  text: string,
  fileName: string,
  options: ReadOptions = {},
): readonly ManifestDocument[] => {
  const { budget = newBudget(), otherKinds } = options;
  const where = { where: fileName };
  const before = otherKinds?.total();
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_TEXT_BYTES)
    throw manifestUnreadable(
      where,
      `it has ${bytes} bytes, and the limit is ${MAX_TEXT_BYTES}; divide it into several files`,
    );
  budget.spend("bytes", bytes, where);
  const counter = new LineCounter();
  const documents = withPosition(where, text, counter, () =>
    inspectedDocuments(text, counter, where, { ...options, budget }),
  );
  const manifests = documents.flatMap(({ document, repeatedKeys, passedOver }, index) => {
    if (passedOver) return [];
    const position = { where: fileName, ...(documents.length > 1 && { document: index + 1 }) };
    const line = linesOf(document, counter);
    const at = {
      place: position,
      suffix: "",
      line,
      prefix: "",
      depth: 0,
      budget,
      ...(otherKinds && { otherKinds }),
    };
    const [first, ...more] = manifestsIn(toJson(document, position), at);
    if (!first || repeatedKeys.length === 0) return first ? [first, ...more] : [];
    return [
      {
        ...first,
        repeatedKeys: repeatedKeys.map(({ name, offset }) => ({
          name,
          line: counter.linePos(offset).line,
        })),
      },
      ...more,
    ];
  });
  if (manifests.length === 0 && otherKinds?.total() === before)
    throw manifestUnreadable(where, "it contains no manifest");
  return manifests;
};

const isEmpty = (contents: unknown): boolean =>
  contents === null || (isScalar(contents) && contents.value === null);

interface Read {
  readonly document: Document.Parsed;
  readonly repeatedKeys: readonly RepeatedKey[];
  /**
   * True for an object of another kind. It is not looked into: a Deployment may say 0644 where a
   * manifest may not.
   */
  readonly passedOver: boolean;
}

const inspectedDocuments = (
  text: string,
  counter: LineCounter,
  where: SourcePosition,
  {
    budget,
    otherKinds,
    repeatedKeys: wanted = "refuse",
  }: ReadOptions & { readonly budget: Budget },
): readonly Read[] => {
  const read: Read[] = [];
  for (const document of yamlDocuments(text, counter, budget, where)) {
    const [fault] = document.errors;
    if (fault) throw new YamlFault(fault.message, fault.pos);
    if (isEmpty(document.contents)) continue;
    const { nodes, repeatedKeys, ambiguous } = inspectNodes(document);
    budget.spend("nodes", nodes, where);
    // A document with a repeated key may have two kinds.
    const passedOver = repeatedKeys.length === 0 && otherKinds?.passOver(headOf(document)) === true;
    if (ambiguous && !passedOver) throw ambiguous;
    const [repeated] = repeatedKeys;
    if (repeated && wanted === "refuse")
      throw new YamlFault(`the key "${repeated.name}" is written twice`, repeated.offset);
    read.push({ document, repeatedKeys, passedOver });
  }
  return read;
};

/** The fields that say whether an object is an autoscaler. */
const headOf = (document: Document.Parsed): object => ({
  apiVersion: document.get("apiVersion"),
  kind: document.get("kind"),
  items: document.get("items"),
});

const withPosition = <Result>(
  where: SourcePosition,
  text: string,
  counter: LineCounter,
  read: () => Result,
): Result => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof YamlFault)) throw cause;
    const { line, col } = counter.linePos(cause.offset);
    throw manifestUnreadable(
      { ...where, line, column: col },
      `${sentence(cause.message)}${templateHint(text, counter, line)}`,
      cause,
    );
  }
};

/** The parser throws for anchors that repeat too much, which is a fault of the text. */
const toJson = (document: Document.Parsed, position: SourcePosition): unknown => {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw manifestUnreadable(
      position,
      sentence(cause instanceof Error ? cause.message : String(cause)),
      cause,
    );
  }
};

const sentence = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);

/** A line of a chart template is broken YAML in many ways; the remedy is always the same. */
const templateHint = (text: string, { lineStarts }: LineCounter, line: number): string =>
  text.slice(lineStarts[line - 1], lineStarts[line]).includes("{{")
    ? "; this line is part of a template; render the template first"
    : "";

/**
 * Finds the line of a field path such as `spec.metrics[0].type`. For an absent field it is the line
 * of the nearest enclosing field; `undefined` for an empty document.
 */
const linesOf =
  (document: Document.Parsed, counter: LineCounter) =>
  (field: string): number | undefined => {
    let node: unknown = document.contents;
    let offset = startOf(node);
    for (const step of stepsOf(field)) {
      const next = childOf(isAlias(node) ? node.resolve(document) : node, step);
      if (!next) break;
      offset = next.offset ?? offset;
      node = next.value;
    }
    return offset === undefined ? undefined : counter.linePos(offset).line;
  };

const STEP = /\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g;

const stepsOf = (field: string): (string | number)[] =>
  [...field.matchAll(STEP)].map(([, quoted, index, name]) =>
    index === undefined ? (quoted ?? name ?? "") : Number(index),
  );

/** A member starts at its key, an item at itself. */
const childOf = (
  node: unknown,
  step: string | number,
): { readonly offset: number | undefined; readonly value: unknown } | undefined => {
  if (isSeq(node) && typeof step === "number") {
    const item = node.items[step];
    return item === undefined ? undefined : { offset: startOf(item), value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair && { offset: startOf(pair.key), value: pair.value };
};

const startOf = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];

interface ListPosition {
  readonly place: SourcePosition;
  /** Suffix of `where` for items of lists. */
  readonly suffix: string;
  /** Path of the item inside its document. */
  readonly prefix: string;
  readonly depth: number;
  readonly budget: Budget;
  readonly otherKinds?: OtherKinds;
  readonly line: (path: string) => number | undefined;
}

/** The manifest itself, or the manifests of a List. Throws `manifest.unreadable`. */
const manifestsIn = (value: unknown, at: ListPosition): readonly ManifestDocument[] => {
  // Before the limits of manifests: a large CustomResourceDefinition is none.
  if (at.otherKinds?.passOver(value)) return [];
  if (isObject(value) && typeof value["kind"] === "string" && value["kind"].endsWith("List"))
    return itemsOf(value, at);
  const numbered =
    at.place.document === undefined
      ? at.place.where
      : `${at.place.where}, document ${at.place.document}`;
  const where = `${numbered}${at.suffix}`;
  at.budget.spend("manifests", 1, { where: at.place.where });
  if (isLarger(value, MAX_MANIFEST_BYTES))
    throw manifestUnreadable(
      { where },
      `it has more than ${MAX_MANIFEST_BYTES} bytes as JSON, which is the limit of one manifest`,
    );
  return [{ document: value, where, lineOf: (field) => at.line(at.prefix + field) }];
};

const itemsOf = (list: Json, at: ListPosition): readonly ManifestDocument[] => {
  if (list["items"] === undefined)
    throw manifestUnreadable(at.place, `a ${String(list["kind"])} needs "items"`);
  const items = list["items"] ?? [];
  if (!Array.isArray(items))
    throw manifestUnreadable(at.place, `"items" of a ${String(list["kind"])} must be a list`);
  if (at.depth >= MAX_LIST_DEPTH)
    throw manifestUnreadable(at.place, `lists are nested more than ${MAX_LIST_DEPTH} deep`);
  return items.flatMap((item: unknown, index) =>
    manifestsIn(withListKind(item, list), {
      ...at,
      suffix: `${at.suffix}, items[${index}]`,
      prefix: `${at.prefix}items[${index}].`,
      depth: at.depth + 1,
    }),
  );
};

/** An item of a typed list can leave its kind to the list; an item of a plain List has its own. */
const withListKind = (item: unknown, { apiVersion, kind }: Json): unknown => {
  if (!isObject(item) || kind === "List") return item;
  return { apiVersion, kind: String(kind).slice(0, -"List".length), ...item };
};

/**
 * True for a value with more than `most` bytes as JSON. It counts characters first and stops at the
 * limit, because a value in which aliases repeat a long text could otherwise become a text of many
 * megabytes.
 */
const isLarger = (value: unknown, most: number): boolean =>
  charactersIn(value, most) > most || Buffer.byteLength(JSON.stringify(value) ?? "") > most;

/** A lower bound of the characters as JSON; the count stops a little above `most`. */
const charactersIn = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let characters = 1;
  for (const [name, member] of Object.entries(value)) {
    characters +=
      (Array.isArray(value) ? 0 : name.length) + charactersIn(member, most - characters);
    if (characters > most) return characters;
  }
  return characters;
};
