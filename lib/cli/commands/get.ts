import type { Filter, Service } from "../../service/service.ts";
import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import { batches } from "../batches.ts";
import { forEachResource } from "../each-resource.ts";
import type { Printer, Session } from "../io.ts";
import { readSelector } from "../label-selector.ts";
import { autoscalerColumns, autoscalerHeaders } from "../output/autoscaler-rows.ts";
import { documentText } from "../output/document-text.ts";
import { kindOf, kubernetesList, kubernetesObject, labelsOf } from "../output/kubernetes-object.ts";
import { lines } from "../output/list-writers.ts";
import { Table } from "../output/text-table.ts";
import { mustHaveKind, type Resource, type Selection } from "../selected-names.ts";
import { readSortField, sortedBy } from "../sort-field.ts";
import { usage } from "../usage-error.ts";

export interface GetOptions extends Filter {
  readonly output: "table" | "wide" | "name" | "json" | "yaml";
  readonly allNamespaces?: true;
  readonly selector?: string;
  /** Path of a field; without it the order is that of cluster, namespace and name. */
  readonly sortBy?: string;
  /** False for --no-headers. */
  readonly headers?: boolean;
}

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ resources }: Selection, { allNamespaces, namespace, selector, sortBy }: GetOptions): void => {
  if (sortBy !== undefined) readSortField(sortBy);
  if (allNamespaces && namespace !== undefined) throw usage(`Cannot use --all-namespaces and --namespace "${namespace}" together: give one of them`);
  if (selector === undefined) return;
  const [first] = resources;
  if (first) throw usage(`Cannot use "${first.name}" and --selector together: give one of them`);
  readSelector(selector);
};

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Prints the autoscalers with these names, or the list. As a document, each is an object that can be applied again; several are a `List` of them. */
export const get = async (session: Session, printer: Printer, selection: Selection, options: GetOptions): Promise<void> => {
  const { resources } = selection;
  if (resources.length > 0) return getNamed(session, printer, resources, options);
  const unsorted = listed(session.service, selection, options);
  // Only a sorted list is read whole before its first line is printed.
  const views = options.sortBy === undefined ? unsorted : sortedBy(await toArray(unsorted), readSortField(options.sortBy));
  if (options.output === "json" || options.output === "yaml") await printer.print(documentText(kubernetesList(await toArray(views)), options.output));
  else await printRows(session, printer, views, options);
};

const getNamed = async (session: Session, printer: Printer, resources: readonly Resource[], options: GetOptions): Promise<void> => {
  const views: AutoscalerView[] = [];
  try {
    await forEachResource(resources, async ({ kind, ...query }) => {
      views.push(mustHaveKind(await session.service.get(query), kind));
    });
  } finally {
    await printNamed(session, printer, views, { ...options, isList: resources.length > 1 });
  }
};

const printNamed = async (
  session: Session,
  printer: Printer,
  views: readonly AutoscalerView[],
  { isList, ...options }: GetOptions & { readonly isList: boolean },
): Promise<void> => {
  const { output, sortBy } = options;
  const ordered = sortBy === undefined ? views : sortedBy(views, readSortField(sortBy));
  const [first] = ordered;
  if (!first) return;
  if (output === "json" || output === "yaml") await printer.print(documentText(isList ? kubernetesList(ordered) : kubernetesObject(first), output));
  else await printRows(session, printer, ordered, options);
};

async function* listed(service: Service, { kind }: Selection, { cluster, namespace, selector }: GetOptions): AsyncGenerator<AutoscalerView> {
  const filter = { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) };
  const chosen = selector === undefined ? undefined : readSelector(selector);
  for await (const view of service.autoscalers(filter))
    if ((kind === undefined || kindOf(view) === kind) && (chosen === undefined || chosen(labelsOf(view)))) yield view;
}

/** Prints a table, or with `-o name` the path of each, which every command takes as a name. */
const printRows = async (
  { nowMs }: Session,
  { print, paint }: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  { namespace, output, selector, headers }: GetOptions,
): Promise<void> => {
  const wide = output === "wide";
  const table = new Table(headers === false ? undefined : autoscalerHeaders(wide));
  const textOf = (batch: readonly AutoscalerView[]): readonly string[] =>
    output === "name"
      ? batch.map(({ cluster, namespace: inside, name }) => `${cluster}/${inside}/${name}`)
      : table.lines(batch.map((view) => autoscalerColumns(view, nowMs, { paint, wide })));
  let empty = true;
  for await (const batch of batches(views, BATCH)) {
    empty = false;
    if (!(await print(lines(textOf(batch))))) return;
  }
  if (empty && output !== "name")
    await print(
      `No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}${selector === undefined ? "" : " with these labels"}\n`,
    );
};
