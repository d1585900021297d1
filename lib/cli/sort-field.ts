import { isObject } from "../model/is-object.ts";
import type { TableRow } from "../service/views/row-view.ts";
import { usage } from "./usage-error.ts";

/** Steps of the path of a field in the document that `get -o json` prints. */
export type SortField = readonly string[];

const PATH = /^\{?\.?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\}?$/;
const EXAMPLE = "write for example .status.currentReplicas";

/** Reads ".status.currentReplicas", also in braces and without the first point, as kubectl does. Throws a usage error. */
export const readSortField = (text: string): SortField => {
  const path = PATH.exec(text)?.[1];
  if (path === undefined) throw usage(`Cannot read --sort-by "${text}": it is no path of a field; ${EXAMPLE}`);
  return path.split(".");
};

/** The items in order of a field of their documents, those without it last; equal ones stay in their order. Throws a usage error when no item has it. */
export const sortedBy = <Item>(items: readonly Item[], field: SortField, documentOf: (item: Item) => object): readonly Item[] => {
  const keyed = items.map((item) => ({ item, value: valueAt(documentOf(item), field) }));
  if (items.length > 0 && keyed.every(({ value }) => value === undefined))
    throw usage(`Cannot sort by "${field.join(".")}": no autoscaler of the list has that field; ${EXAMPLE}`);
  return keyed.sort((left, right) => compare(left.value, right.value)).map(({ item }) => item);
};

/** The fields of metadata and of the status that a row has. */
const ROW_METADATA: ReadonlySet<string | undefined> = new Set(["name", "namespace", "uid", "generation", "creationTimestamp", "labels"]);
const ROW_STATUS = [
  ...(["cluster", "owner", "target", "minReplicas", "maxReplicas", "state", "heldBy", "currentReplicas", "desiredReplicas"] as const),
  ...(["lastKnown", "lastScaleAt", "syncedAt", "ageSeconds", "paused", "problem"] as const),
] satisfies readonly (keyof TableRow)[];

/** True where rows of tables have the field, so that no autoscaler is read whole for it. */
export const isInRows = ([root, field]: SortField): boolean =>
  root === "kind" || (root === "metadata" && ROW_METADATA.has(field)) || (root === "status" && ROW_STATUS.some((known) => known === field));

/** What a row has of the document. */
export const documentOfRow = (row: TableRow): object => {
  const { kind, name, namespace, uid, generation, createdAt, labels = {} } = row;
  const status = Object.fromEntries(ROW_STATUS.map((field) => [field, row[field]]));
  return { kind, metadata: { name, namespace, uid, generation, creationTimestamp: createdAt, labels }, status };
};

type Value = string | number | undefined;

const valueAt = (document: unknown, path: SortField): Value => {
  const value = path.reduce<unknown>((parent, step) => (isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined), document);
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" || typeof value === "number" ? value : undefined;
};

const compare = (left: Value, right: Value): number => {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left) < String(right) ? -1 : 1;
};
