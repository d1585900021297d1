import { isObject } from "../../model/json.ts";
import { readSelector } from "../../service/label-selector.ts";
import { type TableRow, tableRowOf } from "../../service/views/row-view.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import { batches, listWriter, documentText, kubernetesObject } from "../output/documents.ts";
import { resourcesInClusters, type Resource, type Selection } from "../select/selected-names.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import { listedAutoscalers, listedRows, nothingListed, namedAutoscalers } from "../select/listed-autoscalers.ts";
import { autoscalerPrinter, isDocument } from "../output/autoscaler-rows.ts";
import { usage } from "../usage-error.ts";
import { checkFields, fieldsOf, printFields, rowsWriter } from "./get-fields.ts";
import type { GetOptions } from "./get-fields.ts";
import { getWatched } from "./get-watched.ts";

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ resources }: Selection, options: GetOptions): void => {
  const { allNamespaces, namespace, selector, sortBy } = options;
  checkFields(options);
  if (sortBy !== undefined) readSortField(sortBy);
  if (options.outputWatchEvents && !isWatched(options)) throw usage("Cannot use --output-watch-events without --watch: a list has no events");
  if (sortBy !== undefined && isWatched(options))
    throw usage(`Cannot use --watch and --sort-by "${sortBy}" together: rows are printed as they change`);
  if (allNamespaces && namespace !== undefined) throw usage(`Cannot use --all-namespaces and --namespace "${namespace}" together: give one of them`);
  if (selector === undefined) return;
  const [first] = resources;
  if (first) throw usage(`Cannot use "${first.name}" and --selector together: give one of them`);
  readSelector(selector);
};

const isWatched = ({ watch, watchOnly }: GetOptions): boolean => watch === true || watchOnly === true;

/** Prints the autoscalers with these names, or the list; with `--watch` also each that changes, until Ctrl-C. As a document, each is an object that can be applied again; several are a `List` of them. */
export const get = async (
  session: Session,
  { printer, io }: { readonly printer: Printer; readonly io: Pick<CommandIo, "interruptible" | "watchEveryMs"> },
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const { clusters } = options;
  const named = selection.resources;
  const resources = clusters === undefined || named.length === 0 ? named : await resourcesInClusters(session.service, named, clusters);
  if (isWatched(options)) return getWatched(session, { printer, io }, { ...selection, resources }, options);
  const sortField = options.sortBy === undefined ? undefined : readSortField(options.sortBy);
  if (named.length === 0 && needsNoManifest(options, sortField)) return getRows(session, printer, selection, { options, sortField });
  if (named.length > 0) return getNamed(session, printer, resources, { ...options, isList: named.length > 1 || clusters !== undefined });
  const unsorted = listedAutoscalers(session.service, selection.kinds, options);
  // Only a sorted list is read whole before its first line is printed.
  const views = sortField ? sortedBy(await Array.fromAsync(unsorted), sortField, kubernetesObject) : unsorted;
  if (options.fields !== undefined) return printFields(session, printer, (await Array.fromAsync(views)).map(tableRowOf), options);
  if (!(await printList(session, printer, views, options)) && options.output !== "name") printer.report(nothingListed(options));
};

const needsNoManifest = ({ fields, output }: GetOptions, sortField: SortField | undefined): boolean =>
  (fields !== undefined || !isDocument(output)) && (!sortField || isInRows(sortField));

/** The list as a table, or the fields of its rows. It needs no manifest. */
const getRows = async (
  session: Session,
  printer: Printer,
  { kinds }: Selection,
  { options, sortField }: { readonly options: GetOptions; readonly sortField: SortField | undefined },
): Promise<void> => {
  // Each row has its names; one field is the least to ask for, so that a page holds the rows of a large fleet.
  const fields = options.output === "name" ? (["kind"] as const) : fieldsOf(options);
  const { fields: _written, ...scope } = options;
  // A list that is sorted needs the field that it is sorted by.
  const unsorted = listedRows(session.service, kinds, { ...scope, ...(fields && !sortField && { fields }) });
  const rows = sortField ? sortedBy(await Array.fromAsync(unsorted), sortField, documentOfRow) : unsorted;
  const writer = rowsWriter(session, printer, options);
  let isEmpty = true;
  for await (const batch of batches(rows, BATCH)) {
    isEmpty = false;
    if (!(await writer.batch(batch))) return;
  }
  await writer.end();
  if (isEmpty && !isDocument(options.output) && options.output !== "name") printer.report(nothingListed(options));
};

const getNamed = async (
  session: Session,
  printer: Printer,
  resources: readonly Resource[],
  options: GetOptions & { readonly isList: boolean },
): Promise<void> => {
  const views: AutoscalerView[] = [];
  try {
    for await (const view of namedAutoscalers(session.service, resources)) views.push(view);
  } finally {
    await printNamed(session, printer, views, options);
  }
};

const printNamed = async (
  session: Session,
  printer: Printer,
  views: readonly AutoscalerView[],
  { isList, ...options }: GetOptions & { readonly isList: boolean },
): Promise<void> => {
  const ordered = options.sortBy === undefined ? views : sortedBy(views, readSortField(options.sortBy), kubernetesObject);
  const [first] = ordered;
  if (!first) return;
  if (options.fields !== undefined) await printFields(session, printer, ordered.map(tableRowOf), options);
  else if (isList || !isDocument(options.output)) await printList(session, printer, ordered, options);
  else await printer.print(documentText(kubernetesObject(first), options.output, options.headers));
};

/** False where there was nothing to print. */
const printList = async (
  session: Session,
  printer: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  options: GetOptions,
): Promise<boolean> => {
  // Also a list of documents is printed as it is read: manifests of a large fleet would take some hundred megabytes.
  const documents = isDocument(options.output) ? listWriter(options.output, options.headers) : undefined;
  const print = autoscalerPrinter(session, printer, options);
  let isEmpty = true;
  for await (const batch of batches(views, BATCH)) {
    isEmpty = false;
    const isWanted = documents ? printer.print(documents.batch(batch.map(kubernetesObject))) : print(batch.map((view) => ({ view })));
    if (!(await isWanted)) return true;
  }
  if (documents) await printer.print(documents.end());
  return documents !== undefined || !isEmpty;
};

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Steps of the path of a field in the document that `get -o json` prints. */
type SortField = readonly string[];

const PATH = /^\{?\.?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\}?$/;
const EXAMPLE = "write for example .status.currentReplicas";

/** Reads ".status.currentReplicas", also in braces and without the first point, as kubectl does. Throws a usage error. */
export const readSortField = (text: string): SortField => {
  const path = PATH.exec(text)?.[1];
  if (path === undefined) throw usage(`Cannot read --sort-by "${text}": it is no path of a field; ${EXAMPLE}`);
  return path.split(".");
};

/** The items in order of a field of their documents, those without it last; equal ones stay in their order. Throws a usage error when no item has it. */
const sortedBy = <Item>(items: readonly Item[], field: SortField, documentOf: (item: Item) => object): readonly Item[] => {
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

const documentOfRow = (row: TableRow): object => {
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
