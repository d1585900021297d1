import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import { tableRowOf } from "../../service/views/row-view.ts";
import { batches } from "../batches.ts";
import { resourcesInClusters } from "../cluster-pattern.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import { readSelector } from "../../service/label-selector.ts";
import { listedAutoscalers, listedRows, nothingListed } from "../listed-autoscalers.ts";
import { namedAutoscalers } from "../named-autoscalers.ts";
import { autoscalerPrinter, isDocument } from "../output/autoscaler-printer.ts";
import { documentText } from "../output/document-text.ts";
import { kubernetesObject } from "../output/kubernetes-object.ts";
import { listWriter } from "../output/list-writers.ts";
import type { Resource, Selection } from "../selected-names.ts";
import { documentOfRow, isInRows, readSortField, type SortField, sortedBy } from "../sort-field.ts";
import { usage } from "../usage-error.ts";
import { checkFields, fieldsOf, printFields, rowsWriter } from "./get-fields.ts";
import type { GetOptions } from "./get-options.ts";
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
  const views = sortField ? sortedBy(await toArray(unsorted), sortField, kubernetesObject) : unsorted;
  if (options.fields !== undefined) return printFields(session, printer, (await toArray(views)).map(tableRowOf), options);
  if (!(await printList(session, printer, views, options)) && options.output !== "name") printer.tell(nothingListed(options));
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
  const fields = fieldsOf(options);
  const { fields: _written, ...scope } = options;
  // A list that is sorted needs the field that it is sorted by.
  const unsorted = listedRows(session.service, kinds, { ...scope, ...(fields && !sortField && { fields }) });
  const rows = sortField ? sortedBy(await toArray(unsorted), sortField, documentOfRow) : unsorted;
  const writer = rowsWriter(session, printer, options);
  let isEmpty = true;
  for await (const batch of batches(rows, BATCH)) {
    isEmpty = false;
    if (!(await writer.batch(batch))) return;
  }
  await writer.end();
  if (isEmpty && !isDocument(options.output) && options.output !== "name") printer.tell(nothingListed(options));
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
  else await printer.print(documentText(kubernetesObject(first), options.output));
};

/** False where there was nothing to print. */
const printList = async (
  session: Session,
  printer: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  options: GetOptions,
): Promise<boolean> => {
  // Also a list of documents is printed as it is read: manifests of a large fleet would take some hundred megabytes.
  const documents = isDocument(options.output) ? listWriter(options.output) : undefined;
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
