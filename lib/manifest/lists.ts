import type { Budget } from "./budget.ts";
import { manifestUnreadable, type Whereabouts } from "./errors.ts";
import { isLarger } from "./json.ts";
import { isObject } from "./shape.ts";

/** One manifest as JSON: a record of a change holds two of them, and an item of the table 400 KB. */
export const MAX_MANIFEST_BYTES = 128 * 1024;
/** A List of Lists is read, a nest of them is not. */
const MAX_LIST_DEPTH = 3;

/** A manifest, and where it stood. */
export interface Placed {
  readonly document: unknown;
  /** For messages: "hpa.yaml", or "hpa.yaml, document 2, items[3]" where the text holds several. */
  readonly where: string;
  /** Line of a field such as "spec.metrics[0].type", or of what encloses it where it is absent. */
  readonly lineOf: (field: string) => number | undefined;
}

export interface Position {
  readonly place: Whereabouts;
  /** Of `where`, for items of lists. */
  readonly suffix: string;
  /** Path of the item inside its document. */
  readonly prefix: string;
  readonly depth: number;
  readonly budget: Budget;
  readonly line: (path: string) => number | undefined;
}

/** The manifest that a value is, or those of the list that it is. Throws `manifest.unreadable`. */
export const flattened = (value: unknown, at: Position): readonly Placed[] => {
  if (isObject(value) && typeof value["kind"] === "string" && value["kind"].endsWith("List")) return itemsOf(value, at);
  const numbered = at.place.document === undefined ? at.place.where : `${at.place.where}, document ${at.place.document}`;
  const where = `${numbered}${at.suffix}`;
  at.budget.spend("manifests", 1, { where: at.place.where });
  if (isLarger(value, MAX_MANIFEST_BYTES))
    throw manifestUnreadable({ where }, `it has more than ${MAX_MANIFEST_BYTES} bytes as JSON, and no more are kept`);
  return [{ document: value, where, lineOf: (field) => at.line(at.prefix + field) }];
};

const itemsOf = (list: Readonly<Record<string, unknown>>, at: Position): readonly Placed[] => {
  if (list["items"] === undefined) throw manifestUnreadable(at.place, `a ${String(list["kind"])} needs "items"`);
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
