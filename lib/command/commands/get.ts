import { isObject } from "../../rules/model/json.ts";
import { readSelector } from "../../answers/service/label-selector.ts";
import { type TableRow, tableRowOf } from "../../answers/service/views/row-view.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { printList, listWriter, documentText, kubernetesObject } from "../output/documents.ts";
import {
  resourcesInClusters,
  type NamedAutoscalerOfKind,
  type Selection,
} from "../select/selected-names.ts";
import type { Printer, Session, CommandSurroundings, Watching } from "../io.ts";
import {
  listedAutoscalers,
  listedRows,
  nothingListed,
  namedAutoscalers,
} from "../select/listed-autoscalers.ts";
import { isDocument } from "../output/autoscaler-rows.ts";
import { refuseNamespaceTwice } from "../options/scope-options.ts";
import { usage } from "../usage-error.ts";
import { checkFields, chosenFields, type GetOptions, rowsWriter } from "./get-fields.ts";
import { getWatched } from "./get-watched.ts";

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ resources }: Selection, options: GetOptions): void => {
  const { selector, sortBy } = options;
  checkFields(options);
  if (sortBy !== undefined) readSortField(sortBy);
  if (options.outputWatchEvents && !isWatched(options))
    throw usage("Cannot use --output-watch-events without --watch: a list has no events");
  if (sortBy !== undefined && isWatched(options))
    throw usage(
      `Cannot use --watch and --sort-by "${sortBy}" together: rows are printed as they change`,
    );
  refuseNamespaceTwice(options);
  if (selector === undefined) return;
  const [first] = resources;
  if (first) throw usage(`Cannot use "${first.name}" and --selector together: give one of them`);
  readSelector(selector);
};

const isWatched = ({ watch, watchOnly }: GetOptions): boolean =>
  watch === true || watchOnly === true;

/**
 * Prints the autoscalers with these names, or the list; with `--watch` also each that changes,
 * until Ctrl-C. As a document, each is an object that can be applied again; several are a `List` of
 * them.
 */
export const get = async (
  session: Session,
  { printer, io }: CommandSurroundings<Watching>,
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const { clusters } = options;
  const named = selection.resources;
  const resources =
    clusters === undefined || named.length === 0
      ? named
      : await resourcesInClusters(session.service, named, clusters);
  if (isWatched(options))
    return getWatched(session, { printer, io }, { ...selection, resources }, options);
  const sortField = options.sortBy === undefined ? undefined : readSortField(options.sortBy);
  const list: List = { session, printer, options, sortField };
  if (named.length > 0)
    return getNamed(list, resources, named.length > 1 || clusters !== undefined);
  const needsNoManifest =
    (options.fields !== undefined || !isDocument(options.output)) &&
    (!sortField || isInRows(sortField));
  if (needsNoManifest) return getRows(list, selection.kinds);
  const unsorted = listedAutoscalers(session.service, selection.kinds, options);
  // Only a sorted list is read whole before its first line is printed.
  return printViews(
    list,
    sortField ? sortedBy(await Array.fromAsync(unsorted), sortField, kubernetesObject) : unsorted,
  );
};

interface List {
  readonly session: Session;
  readonly printer: Printer;
  readonly options: GetOptions;
  readonly sortField: SortField | undefined;
}

/** The list as a table, or the fields of its rows. It needs no manifest. */
const getRows = async (list: List, kinds: Selection["kinds"]): Promise<void> => {
  const { session, options, sortField } = list;
  // Each row has its names; one field is the least to ask for, so that a page holds the rows of a
  // large fleet.
  const fields = options.output === "name" ? (["kind"] as const) : chosenFields(options);
  const { fields: _written, ...scope } = options;
  // A list that is sorted needs the field that it is sorted by.
  const unsorted = listedRows(session.service, kinds, {
    ...scope,
    ...(fields && !sortField && { fields }),
  });
  return printRows(
    list,
    sortField ? sortedBy(await Array.fromAsync(unsorted), sortField, documentOfRow) : unsorted,
  );
};

const getNamed = async (
  list: List,
  resources: readonly NamedAutoscalerOfKind[],
  isList: boolean,
): Promise<void> => {
  const { session, printer, options, sortField } = list;
  const { output, headers, fields } = options;
  const views: AutoscalerView[] = [];
  try {
    for await (const view of namedAutoscalers(session.service, resources)) views.push(view);
  } finally {
    const [first, ...more] = sortField ? sortedBy(views, sortField, kubernetesObject) : views;
    if (first && fields === undefined && !isList && isDocument(output))
      await printer.print(documentText(kubernetesObject(first), output, headers));
    else if (first) await printViews(list, [first, ...more]);
  }
};

/**
 * Also a list of documents is printed as it is read: manifests of a large fleet would take some
 * hundred megabytes.
 */
const printViews = async (
  list: List,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
): Promise<void> => {
  const { printer, options } = list;
  const { output, headers, fields } = options;
  if (fields !== undefined || !isDocument(output)) return printRows(list, each(views, tableRowOf));
  await printList(printer, each(views, kubernetesObject), listWriter(output, headers));
};

const printRows = async (
  { session, printer, options }: List,
  rows: AsyncIterable<TableRow> | readonly TableRow[],
): Promise<void> => {
  const isEmpty = await printList(printer, rows, rowsWriter(session, printer, options));
  if (isEmpty && !isDocument(options.output) && options.output !== "name")
    printer.report(nothingListed(options));
};

async function* each<Item, Form>(
  items: AsyncIterable<Item> | readonly Item[],
  formOf: (item: Item) => Form,
): AsyncGenerator<Form> {
  for await (const item of items) yield formOf(item);
}

/** Steps of the path of a field in the document that `get -o json` prints. */
type SortField = readonly string[];

const PATH = /^\{?\.?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\}?$/;
const EXAMPLE = "write for example .status.currentReplicas";

/**
 * Reads ".status.currentReplicas", also in braces and without the first point, as kubectl does.
 * Throws a usage error.
 */
export const readSortField = (text: string): SortField => {
  const path = PATH.exec(text)?.[1];
  if (path === undefined)
    throw usage(`Cannot read --sort-by "${text}": it is no path of a field; ${EXAMPLE}`);
  return path.split(".");
};

/**
 * The items in order of a field of their documents, those without it last; equal ones stay in their
 * order. Throws a usage error when no item has it.
 */
const sortedBy = <Item>(
  items: readonly Item[],
  field: SortField,
  documentOf: (item: Item) => object,
): readonly Item[] => {
  const keyed = items.map((item) => ({ item, value: valueAt(documentOf(item), field) }));
  if (items.length > 0 && keyed.every(({ value }) => value === undefined))
    throw usage(
      `Cannot sort by "${field.join(".")}": no autoscaler of the list has that field; ${EXAMPLE}`,
    );
  return keyed.sort((left, right) => compare(left.value, right.value)).map(({ item }) => item);
};

/** The fields of metadata and of the status that a row has. */
const ROW_METADATA: ReadonlySet<string | undefined> = new Set([
  "name",
  "namespace",
  "uid",
  "generation",
  "creationTimestamp",
  "labels",
]);
const ROW_STATUS = [
  ...([
    "cluster",
    "owner",
    "target",
    "minReplicas",
    "maxReplicas",
    "state",
    "heldBy",
    "currentReplicas",
    "desiredReplicas",
  ] as const),
  ...(["lastKnown", "lastScaleAt", "syncedAt", "ageSeconds", "paused", "problem"] as const),
] satisfies readonly (keyof TableRow)[];

/** True where rows of tables have the field, so that no autoscaler is read whole for it. */
export const isInRows = ([root, field]: SortField): boolean =>
  root === "kind" ||
  (root === "metadata" && ROW_METADATA.has(field)) ||
  (root === "status" && ROW_STATUS.some((known) => known === field));

const documentOfRow = (row: TableRow): object => {
  const { kind, name, namespace, uid, generation, createdAt, labels = {} } = row;
  const status = Object.fromEntries(ROW_STATUS.map((field) => [field, row[field]]));
  return {
    kind,
    metadata: { name, namespace, uid, generation, creationTimestamp: createdAt, labels },
    status,
  };
};

type Value = string | number | undefined;

const valueAt = (document: unknown, path: SortField): Value => {
  const value = path.reduce<unknown>(
    (parent, step) => (isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined),
    document,
  );
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
