import { TidemarkError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import { text } from "../../report/printed.ts";
import { readInputs } from "../../service/apply/manifest-inputs.ts";
import { type LabelTest, readSelector } from "../../service/label-selector.ts";
import type { ManifestSource, Service } from "../../service/service.ts";
import type { Applied, AutoscalerView } from "../../views/autoscaler.ts";
import type { Printer } from "../io.ts";
import { forEachResource } from "../select/named-autoscalers.ts";
import { labelsOf } from "../output/kubernetes-object.ts";
import { usage } from "../usage-error.ts";

export interface PruneOptions {
  readonly prune?: true;
  readonly selector?: string;
}

/** What an apply may prune. */
export interface PrunePlan {
  readonly hasLabels: LabelTest;
  /** How many autoscalers must have been applied before anything goes. */
  readonly documents: number;
}

/**
 * Reads `--prune -l SELECTOR` before anything is opened. Throws where the selector is missing, where the input is empty, and where a document lacks the labels: such an input belongs to other labels,
 * and everything that has these would go.
 */
export const prunePlan = ({ prune, selector }: PruneOptions, sources: readonly ManifestSource[]): PrunePlan | undefined => {
  if (!prune && selector !== undefined) throw usage("Cannot use --selector without --prune: an apply takes all documents of its files");
  if (!prune) return undefined;
  if (selector === undefined) throw usage("Cannot prune: give with -l the labels of what this input owns, such as -l app=shop");
  const hasLabels = readSelector(selector);
  const { inputs } = readInputs(sources, "ignore");
  if (inputs.length === 0) throw refused("the input names no autoscaler, so that everything with these labels would be deleted");
  const stranger = inputs.find(({ document }) => !hasLabels(labelsOf({ manifest: isObject(document) ? document : {} })));
  if (stranger) throw refused(`"${stranger.where}" has not the labels of --selector "${selector}"; all documents must have them`);
  return { hasLabels, documents: inputs.length };
};

const refused = (problem: string): TidemarkError => new TidemarkError("cli.prune", `Cannot prune: ${problem}`, {});

/**
 * The stored autoscalers with the labels that the apply did not name, in the cluster and the namespaces of what it named. One that is read from an object of its cluster is no leftover: no apply
 * can name it, and it ends with its object.
 */
const leftOver = async (service: Service, { hasLabels }: PrunePlan, applied: readonly Applied[]): Promise<readonly AutoscalerView[]> => {
  const kept = new Set(applied.map(({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`));
  const places = new Map(applied.map(({ cluster, namespace }) => [`${cluster}/${namespace}`, { cluster, namespace }]));
  const views: AutoscalerView[] = [];
  for (const inside of places.values())
    for await (const view of service.autoscalers(inside))
      if (!view.origin && !kept.has(`${view.cluster}/${view.namespace}/${view.name}`) && hasLabels(labelsOf(view))) views.push(view);
  return views;
};

/** Deletes what the apply left over, each only in the version that was looked at. An apply that was cut short prunes nothing. */
export const prune = async (
  service: Service,
  printer: Printer,
  applied: readonly Applied[],
  { dryRun, ...plan }: PrunePlan & { readonly dryRun: boolean },
): Promise<void> => {
  if (applied.length !== plan.documents) throw refused(`${applied.length} of ${plan.documents} documents were applied; apply them all first`);
  await forEachResource(await leftOver(service, plan, applied), async ({ cluster, namespace, name, uid, generation }) => {
    if (!dryRun) await service.delete({ cluster, namespace, name, onlyIf: [{ uid, generation }] });
    await printer.print(text`"${name}" in namespace "${namespace}" of cluster "${cluster}" pruned${dryRun ? " (dry run)" : ""}\n`);
  });
};
