import { isObject } from "../model/json.ts";
import type { Budget } from "./budget.ts";
import { manifestUnreadable, type SourcePosition } from "./errors.ts";

import type { OtherKinds } from "./other-kinds.ts";

/** Limit of one manifest as JSON, because a change item holds two of them and an item of the table has at most 400 KB. */
export const MAX_MANIFEST_BYTES = 128 * 1024;
/** Limit of nested Lists. */
const MAX_LIST_DEPTH = 3;

/** A manifest and its place. */
export interface LocatedManifest {
  readonly document: unknown;
  /** For messages: "hpa.yaml", or "hpa.yaml, document 2, items[3]" when the text has several. */
  readonly where: string;
  /** Line of a field such as "spec.metrics[0].type", or of the enclosing field when it is absent. */
  readonly lineOf: (field: string) => number | undefined;
}

export interface ListPosition {
  readonly place: SourcePosition;
  /** Suffix of `where` for items of lists. */
  readonly suffix: string;
  /** Path of the item inside its document. */
  readonly prefix: string;
  readonly depth: number;
  readonly budget: Budget;
  /** Counts objects of other kinds, which are then passed over. Without it they are manifests too. */
  readonly otherKinds?: OtherKinds;
  readonly line: (path: string) => number | undefined;
}

/** The manifest itself, or the manifests of a List. Throws `manifest.unreadable`. */
export const manifestsIn = (value: unknown, at: ListPosition): readonly LocatedManifest[] => {
  // Before the limits of manifests: a large CustomResourceDefinition is none.
  if (at.otherKinds?.passOver(value)) return [];
  if (isObject(value) && typeof value["kind"] === "string" && value["kind"].endsWith("List")) return itemsOf(value, at);
  const numbered = at.place.document === undefined ? at.place.where : `${at.place.where}, document ${at.place.document}`;
  const where = `${numbered}${at.suffix}`;
  at.budget.spend("manifests", 1, { where: at.place.where });
  if (isLarger(value, MAX_MANIFEST_BYTES))
    throw manifestUnreadable({ where }, `it has more than ${MAX_MANIFEST_BYTES} bytes as JSON, which is the limit of one manifest`);
  return [{ document: value, where, lineOf: (field) => at.line(at.prefix + field) }];
};

const itemsOf = (list: Readonly<Record<string, unknown>>, at: ListPosition): readonly LocatedManifest[] => {
  if (list["items"] === undefined) throw manifestUnreadable(at.place, `a ${String(list["kind"])} needs "items"`);
  const items = list["items"] ?? [];
  if (!Array.isArray(items)) throw manifestUnreadable(at.place, `"items" of a ${String(list["kind"])} must be a list`);
  if (at.depth >= MAX_LIST_DEPTH) throw manifestUnreadable(at.place, `lists are nested more than ${MAX_LIST_DEPTH} deep`);
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
const withListKind = (item: unknown, { apiVersion, kind }: Readonly<Record<string, unknown>>): unknown => {
  if (!isObject(item) || kind === "List") return item;
  return { apiVersion, kind: String(kind).slice(0, -"List".length), ...item };
};

/**
 * True for a value with more than `most` bytes as JSON. It counts characters first and stops at the limit, because a value in which aliases repeat a long text could
 * otherwise become a text of many megabytes.
 */
const isLarger = (value: unknown, most: number): boolean => charactersIn(value, most) > most || Buffer.byteLength(JSON.stringify(value) ?? "") > most;

/** A lower bound of the characters as JSON; the count stops a little above `most`. */
const charactersIn = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let characters = 1;
  for (const [name, member] of Object.entries(value)) {
    characters += (Array.isArray(value) ? 0 : name.length) + charactersIn(member, most - characters);
    if (characters > most) return characters;
  }
  return characters;
};
