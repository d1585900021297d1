import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import { batches } from "../batches.ts";
import { resourcesInClusters } from "../cluster-pattern.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import { readSelector } from "../../service/label-selector.ts";
import { listedAutoscalers, listedRows, nothingListed } from "../listed-autoscalers.ts";
import { namedAutoscalers } from "../named-autoscalers.ts";
import { autoscalerPrinter, isDocument, rowPrinter } from "../output/autoscaler-printer.ts";
import { documentText } from "../output/document-text.ts";
import { kubernetesList, kubernetesObject } from "../output/kubernetes-object.ts";
import type { Resource, Selection } from "../selected-names.ts";
import { readSortField, sortedBy } from "../sort-field.ts";
import { usage } from "../usage-error.ts";
import type { GetOptions } from "./get-options.ts";
import { getWatched } from "./get-watched.ts";

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ resources }: Selection, options: GetOptions): void => {
  const { allNamespaces, namespace, selector, sortBy } = options;
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
  if (named.length === 0 && options.sortBy === undefined && !isDocument(options.output))
    return getRows(session, printer, selection, { ...options, output: options.output });
  if (named.length > 0) return getNamed(session, printer, resources, { ...options, isList: named.length > 1 || clusters !== undefined });
  const unsorted = listedAutoscalers(session.service, selection.kinds, options);
  // Only a sorted list is read whole before its first line is printed.
  const views = options.sortBy === undefined ? unsorted : sortedBy(await toArray(unsorted), readSortField(options.sortBy));
  if (!(await printList(session, printer, views, options)) && options.output !== "name") printer.tell(nothingListed(options));
};

/** The list as a table. It needs no manifest. */
const getRows = async (
  session: Session,
  printer: Printer,
  { kinds }: Selection,
  options: GetOptions & Parameters<typeof rowPrinter>[2],
): Promise<void> => {
  const print = rowPrinter(session, printer, options);
  let isEmpty = true;
  for await (const batch of batches(listedRows(session.service, kinds, options), BATCH)) {
    isEmpty = false;
    if (!(await print(batch.map((view) => ({ view }))))) return;
  }
  if (isEmpty && options.output !== "name") printer.tell(nothingListed(options));
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
  const ordered = options.sortBy === undefined ? views : sortedBy(views, readSortField(options.sortBy));
  const [first] = ordered;
  if (!first) return;
  if (isList || !isDocument(options.output)) await printList(session, printer, ordered, options);
  else await printer.print(documentText(kubernetesObject(first), options.output));
};

/** False where there was nothing to print. */
const printList = async (
  session: Session,
  printer: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  options: GetOptions,
): Promise<boolean> => {
  if (isDocument(options.output)) {
    await printer.print(documentText(kubernetesList(await toArray(views)), options.output));
    return true;
  }
  const print = autoscalerPrinter(session, printer, options);
  let isEmpty = true;
  for await (const batch of batches(views, BATCH)) {
    isEmpty = false;
    if (!(await print(batch.map((view) => ({ view }))))) break;
  }
  return !isEmpty;
};

/** Rows that are formatted and written together. */
const BATCH = 200;
