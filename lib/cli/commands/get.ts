import type { Service } from "../../service/service.ts";
import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import { batches } from "../batches.ts";
import { clustersMatching, resourcesInClusters } from "../cluster-pattern.ts";
import { forEachResource } from "../each-resource.ts";
import type { Io, Printer, Session } from "../io.ts";
import { readSelector } from "../label-selector.ts";
import { autoscalerPrinter, isDocument, type RowOptions } from "../output/autoscaler-printer.ts";
import { documentText } from "../output/document-text.ts";
import { kindOf, kubernetesList, kubernetesObject, labelsOf } from "../output/kubernetes-object.ts";
import type { ScopeOptions } from "../scope-options.ts";
import { mustHaveKind, type Resource, type Selection } from "../selected-names.ts";
import { readSortField, sortedBy } from "../sort-field.ts";
import { usage } from "../usage-error.ts";
import { watch } from "../watch.ts";

export interface GetOptions extends ScopeOptions, RowOptions {
  readonly allNamespaces?: true;
  readonly selector?: string;
  /** Path of a field; without it the order is that of cluster, namespace and name. */
  readonly sortBy?: string;
  readonly watch?: true;
}

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ resources }: Selection, options: GetOptions): void => {
  const { allNamespaces, namespace, selector, sortBy } = options;
  if (sortBy !== undefined) readSortField(sortBy);
  if (sortBy !== undefined && options.watch) throw usage(`Cannot use --watch and --sort-by "${sortBy}" together: rows are printed as they change`);
  if (allNamespaces && namespace !== undefined) throw usage(`Cannot use --all-namespaces and --namespace "${namespace}" together: give one of them`);
  if (selector === undefined) return;
  const [first] = resources;
  if (first) throw usage(`Cannot use "${first.name}" and --selector together: give one of them`);
  readSelector(selector);
};

/** Prints the autoscalers with these names, or the list; with `--watch` also each that changes, until Ctrl-C. As a document, each is an object that can be applied again; several are a `List` of them. */
export const get = async (
  session: Session,
  { printer, io }: { readonly printer: Printer; readonly io: Pick<Io, "interruptible" | "watchEveryMs"> },
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const { clusters } = options;
  const named = selection.resources;
  const resources = clusters === undefined || named.length === 0 ? named : await resourcesInClusters(session.service, named, clusters);
  if (options.watch) return watched(session, { printer, io }, { ...selection, resources }, options);
  if (named.length > 0) return getNamed(session, printer, resources, { ...options, isList: named.length > 1 || clusters !== undefined });
  const unsorted = listed(session.service, selection, options);
  // Only a sorted list is read whole before its first line is printed.
  const views = options.sortBy === undefined ? unsorted : sortedBy(await toArray(unsorted), readSortField(options.sortBy));
  await printList(session, printer, views, options);
};

const getNamed = async (
  session: Session,
  printer: Printer,
  resources: readonly Resource[],
  options: GetOptions & { readonly isList: boolean },
): Promise<void> => {
  const views: AutoscalerView[] = [];
  try {
    for await (const view of viewsOf(session.service, resources)) views.push(view);
  } finally {
    await printNamed(session, printer, views, options);
  }
};

/** The autoscalers that exist. Those that do not are told by an error at the end. */
async function* viewsOf(service: Service, resources: readonly Resource[]): AsyncGenerator<AutoscalerView> {
  const views: AutoscalerView[] = [];
  let failure: unknown;
  await forEachResource(resources, async ({ kind, ...query }) => {
    views.push(mustHaveKind(await service.get(query), kind));
  }).catch((error: unknown) => {
    failure = error;
  });
  yield* views;
  if (failure !== undefined) throw failure;
}

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

/** True for the autoscalers of the kind and the labels that were asked for. */
const testOf = ({ kind }: Selection, { selector }: GetOptions): ((view: AutoscalerView) => boolean) => {
  const hasLabels = selector === undefined ? undefined : readSelector(selector);
  return (view) => (kind === undefined || kindOf(view) === kind) && (hasLabels === undefined || hasLabels(labelsOf(view)));
};

async function* listed(service: Service, selection: Selection, options: GetOptions): AsyncGenerator<AutoscalerView> {
  const { cluster, clusters, namespace } = options;
  const isChosen = testOf(selection, options);
  for (const inCluster of clusters === undefined ? [cluster] : await clustersMatching(service, clusters)) {
    const filter = { ...(inCluster !== undefined && { cluster: inCluster }), ...(namespace !== undefined && { namespace }) };
    for await (const view of service.autoscalers(filter)) if (isChosen(view)) yield view;
  }
}

const printList = async (
  session: Session,
  printer: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  options: GetOptions,
): Promise<void> => {
  const { output, namespace, selector } = options;
  if (isDocument(output)) {
    await printer.print(documentText(kubernetesList(await toArray(views)), output));
    return;
  }
  const print = autoscalerPrinter(session, printer, options);
  let empty = true;
  for await (const batch of batches(views, BATCH)) {
    empty = false;
    if (!(await print(batch))) return;
  }
  if (empty && output !== "name")
    await printer.print(
      `No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}${selector === undefined ? "" : " with these labels"}\n`,
    );
};

/** Rows that are formatted and written together. */
const BATCH = 200;

/** What changes with every sync, although nothing else does. */
const withoutAges = ({ ageSeconds: _age, syncedAt: _synced, decision, ...view }: AutoscalerView): string =>
  JSON.stringify({ ...view, decision: decision && { ...decision, at: undefined } });

/** Prints all, then those that are new or differ from what was printed of them. */
const watched = async (
  session: Session,
  { printer, io }: { readonly printer: Printer; readonly io: Pick<Io, "interruptible" | "watchEveryMs"> },
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const print = autoscalerPrinter(session, printer, options);
  const printed = new Map<string, string>();
  await watch(io, async () => {
    const changed: AutoscalerView[] = [];
    const all = selection.resources.length > 0 ? viewsOf(session.service, selection.resources) : listed(session.service, selection, options);
    for await (const view of all) {
      const text = withoutAges(view);
      if (printed.get(view.uid) === text) continue;
      printed.set(view.uid, text);
      changed.push(view);
    }
    return changed.length === 0 || print(changed);
  });
};
