import { isTidemarkError } from "../../model/errors.ts";
import { readSelector } from "../../service/label-selector.ts";
import type { Service } from "../../service/service.ts";
import { namesIn, type RowQuery, rowOfView, type TableRow, tableRows } from "../../service/views/row-view.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { ClusterRows } from "../../views/row.ts";
import { clustersMatching } from "./cluster-pattern.ts";
import type { ScopeOptions } from "../options/scope-options.ts";

export interface ListOptions extends ScopeOptions {
  readonly selector?: string;
}

type Lists = Pick<Service, "autoscalers" | "clusters" | "rows">;

/** Clusters that are asked at the same time. */
const CLUSTERS_AT_ONCE = 16;

/** The autoscalers of the clusters and the namespace that are of one of these kinds and have the labels. Without kinds, every kind is meant. */
export async function* listedAutoscalers(service: Lists, kinds: readonly string[] | undefined, options: ListOptions): AsyncGenerator<AutoscalerView> {
  const isChosen = testOf(kinds, options.selector);
  for (const filter of await filtersOf(service, options)) for await (const view of service.autoscalers(filter)) if (isChosen(view)) yield view;
}

/** The same as tables show them. Kinds and labels are chosen by the service, which reads no manifest for it. */
export async function* listedRows(
  service: Lists,
  kinds: readonly string[] | undefined,
  options: ListOptions & Pick<RowQuery, "fields">,
): AsyncGenerator<TableRow> {
  for await (const cluster of listedClusters(service, kinds, options)) yield* tableRows(cluster);
}

/** The same, cluster by cluster. `known`: marks of the partitions whose rows are known and need not come again. */
export async function* listedClusters(
  service: Lists,
  kinds: readonly string[] | undefined,
  { known, fields, ...options }: ListOptions & Pick<RowQuery, "known" | "fields">,
): AsyncGenerator<ClusterRows> {
  const { selector } = options;
  const more = {
    ...(kinds && { kinds }),
    ...(selector !== undefined && { selector }),
    ...(known !== undefined && { known }),
    ...(fields && { fields }),
  };
  const filters = await filtersOf(service, options);
  try {
    if (filters.length === 1) yield* service.rows({ ...filters[0], ...more });
    else yield* (await mapWithLimit(filters, CLUSTERS_AT_ONCE, (filter) => Array.fromAsync(service.rows({ ...filter, ...more })))).flat();
  } catch (error) {
    if (!isTidemarkError(error, "api.unknown-route")) throw error;
    // A stack of an earlier release has no rows.
    yield* clustersOf(await Array.fromAsync(listedAutoscalers(service, kinds, options)));
  }
}

const clustersOf = (views: readonly AutoscalerView[]): readonly ClusterRows[] =>
  [...Map.groupBy(views, ({ cluster }) => cluster)].map(([cluster, own]) => ({
    cluster,
    partitions: [...Map.groupBy(own, syncOf)].map(([name, [one]]) => ({
      name,
      version: 0,
      ...(one?.syncedAt !== undefined && { syncedAt: one.syncedAt }),
      ...(one?.ageSeconds !== undefined && { ageSeconds: one.ageSeconds }),
    })),
    rows: own.map((view) => rowOfView(view, syncOf(view))),
  }));

/** Such a stack does not say which partition has an autoscaler; the autoscalers of one partition have the time of its sync. */
const syncOf = ({ syncedAt = "never" }: AutoscalerView): string => syncedAt;

/** One filter for each cluster of the patterns, in order of name; without patterns one for all. */
const filtersOf = async (service: Lists, { cluster, clusters, namespace }: ListOptions) => {
  const names = clusters === undefined ? [cluster] : [...(await clustersMatching(service, clusters))];
  return names.map((name) => ({ ...(name !== undefined && { cluster: name }), ...(namespace !== undefined && { namespace }) }));
};

const testOf = (kinds: readonly string[] | undefined, selector: string | undefined): ((view: AutoscalerView) => boolean) => {
  const hasLabels = selector === undefined ? undefined : readSelector(selector);
  return ({ manifest }) => {
    const { kind, labels } = namesIn(manifest);
    return (kinds === undefined || kinds.includes(kind)) && (hasLabels === undefined || hasLabels(labels));
  };
};

/** The line on standard error about an empty list. Standard output then has no line, so that counting lines gives zero. */
export const nothingListed = ({ namespace, selector }: ListOptions): string =>
  `No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}${selector === undefined ? "" : " with these labels"}`;
