import type { Service } from "../service/service.ts";
import type { AutoscalerView } from "../service/views/autoscaler-view.ts";
import { clustersMatching } from "./cluster-pattern.ts";
import { readSelector } from "./label-selector.ts";
import { kindOf, labelsOf } from "./output/kubernetes-object.ts";
import type { ScopeOptions } from "./scope-options.ts";

export interface ListOptions extends ScopeOptions {
  readonly selector?: string;
}

/** The autoscalers of the clusters and the namespace that are of one of these kinds and have the labels. Without kinds, every kind is meant. */
export async function* listedAutoscalers(
  service: Pick<Service, "autoscalers" | "clusters">,
  kinds: readonly string[] | undefined,
  { cluster, clusters, namespace, selector }: ListOptions,
): AsyncGenerator<AutoscalerView> {
  const isChosen = testOf(kinds, selector);
  for (const inCluster of clusters === undefined ? [cluster] : await clustersMatching(service, clusters)) {
    const filter = { ...(inCluster !== undefined && { cluster: inCluster }), ...(namespace !== undefined && { namespace }) };
    for await (const view of service.autoscalers(filter)) if (isChosen(view)) yield view;
  }
}

const testOf = (kinds: readonly string[] | undefined, selector: string | undefined): ((view: AutoscalerView) => boolean) => {
  const hasLabels = selector === undefined ? undefined : readSelector(selector);
  return (view) => (kinds === undefined || kinds.includes(kindOf(view))) && (hasLabels === undefined || hasLabels(labelsOf(view)));
};

/** The line on standard error about an empty list. Standard output then has no line, so that counting lines gives zero. */
export const nothingListed = ({ namespace, selector }: ListOptions): string =>
  `No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}${selector === undefined ? "" : " with these labels"}`;
