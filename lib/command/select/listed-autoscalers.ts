import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { readSelector } from "../../answers/service/label-selector.ts";
import type { Service } from "../../answers/service/service.ts";
import { rowNames, type TableRow, tableRows } from "../../answers/service/views/row-view.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import { type Printed, text } from "../../stack/report/printed.ts";
import type { AutoscalerView, EditResult } from "../../answers/views/autoscaler.ts";
import type { ClusterRows } from "../../answers/views/row.ts";
import {
  ABSENT_CODES,
  clustersMatching,
  type NamedAutoscalerOfKind,
  viewOf,
} from "./selected-names.ts";
import { unlessFailed } from "../usage-error.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import type { RowQuery } from "../../answers/service/requests.ts";

export interface ListOptions extends ScopeOptions {
  readonly selector?: string;
}

type Lists = Pick<Service, "autoscalers" | "clusters" | "rows">;

/** Clusters that are asked at the same time. */
const CLUSTERS_AT_ONCE = 16;

/**
 * The autoscalers of the clusters and the namespace that are of one of these kinds and have the
 * labels. Without kinds, every kind is meant.
 */
export async function* listedAutoscalers(
  service: Lists,
  kinds: readonly string[] | undefined,
  options: ListOptions,
): AsyncGenerator<AutoscalerView> {
  const isChosen = testOf(kinds, options.selector);
  for (const filter of await filtersOf(service, options))
    for await (const view of service.autoscalers(filter)) if (isChosen(view)) yield view;
}

/**
 * The same as tables show them. Kinds and labels are chosen by the service, which reads no manifest
 * for it.
 */
export async function* listedRows(
  service: Lists,
  kinds: readonly string[] | undefined,
  options: ListOptions & Pick<RowQuery, "fields">,
): AsyncGenerator<TableRow> {
  for await (const cluster of listedClusters(service, kinds, options)) yield* tableRows(cluster);
}

/**
 * The same, cluster by cluster. `known`: marks of the partitions whose rows are known and need not
 * come again.
 */
export async function* listedClusters(
  service: Lists,
  kinds: readonly string[] | undefined,
  { known, fields, ...options }: ListOptions & Pick<RowQuery, "known" | "fields">,
): AsyncGenerator<ClusterRows> {
  const more = present({ kinds, selector: options.selector, known, fields });
  const filters = await filtersOf(service, options);
  if (filters.length === 1) yield* service.rows({ ...filters[0], ...more });
  else
    yield* (
      await mapWithLimit(filters, CLUSTERS_AT_ONCE, (filter) =>
        Array.fromAsync(service.rows({ ...filter, ...more })),
      )
    ).flat();
}

/** One filter for each cluster of the patterns, in order of name; without patterns one for all. */
const filtersOf = async (service: Lists, { cluster, clusters, namespace }: ListOptions) => {
  const names =
    clusters === undefined ? [cluster] : [...(await clustersMatching(service, clusters))];
  return names.map((name) => present({ cluster: name, namespace }));
};

const testOf = (
  kinds: readonly string[] | undefined,
  selector: string | undefined,
): ((view: AutoscalerView) => boolean) => {
  const hasLabels = selector === undefined ? undefined : readSelector(selector);
  return ({ manifest }) => {
    const { kind, labels } = rowNames(manifest);
    return (
      (kinds === undefined || kinds.includes(kind)) &&
      (hasLabels === undefined || hasLabels(labels))
    );
  };
};

/**
 * The line on standard error about an empty list. Standard output then has no line, so that
 * counting lines gives zero.
 */
export const nothingListed = ({ namespace, selector }: ListOptions): string =>
  `No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}${selector === undefined ? "" : " with these labels"}`;

/** The autoscalers that exist. An error at the end names the others. */
export async function* namedAutoscalers(
  service: Pick<Service, "get">,
  resources: readonly NamedAutoscalerOfKind[],
): AsyncGenerator<AutoscalerView> {
  const views: AutoscalerView[] = [];
  let failure: unknown;
  await forEachResource(resources, async (resource) => {
    views.push(await viewOf(service, resource));
  }).catch((error: unknown) => {
    failure = error;
  });
  yield* views;
  if (failure !== undefined) throw failure;
}

/** Those that exist now. An absent one is no error. */
export async function* namedIfThere(
  service: Pick<Service, "get">,
  resources: readonly NamedAutoscalerOfKind[],
): AsyncGenerator<AutoscalerView> {
  for (const resource of resources) {
    const view = await unlessFailed(viewOf(service, resource), ...ABSENT_CODES);
    if (view) yield view;
  }
}

/**
 * Does the work for each item in turn. A failure does not stop it, as with kubectl: the others are
 * done, and all failures are thrown together at the end.
 */
export const forEachResource = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const failures: TidemarkError[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (!isTidemarkError(error)) throw error;
      failures.push(error);
    }
  }
  const [first, ...more] = failures;
  if (!first) return;
  if (more.length === 0) throw first;
  // A stack that does not answer says the same for each.
  const messages = [...new Set(failures.map(({ message }) => message))];
  throw new TidemarkError("cli.several", messages.join("\n"), { failures });
};

/** The line of an edit: what became of one autoscaler. */
export const resultText = (
  { cluster, namespace, name }: Pick<EditResult, "cluster" | "namespace" | "name">,
  words: string,
): Printed => text`"${name}" in namespace "${namespace}" of cluster "${cluster}" ${words}\n`;
