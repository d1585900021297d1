import {
  clustersIn,
  type WantedCluster,
} from "../../answers/service/clusters/cluster-documents.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import type { ManifestSource } from "../../answers/service/service.ts";
import { sourcesIn } from "../../answers/service/sources/source-documents.ts";
import type { CommandSurroundings, Session } from "../io.ts";
import { type ApplyCommandOptions, apply, check, prune, type PrunePlan } from "./apply.ts";
import { applySources } from "./source.ts";

/** The documents of the fleet among files, and whether anything else is in the files. */
export interface FoundDocuments {
  readonly clusters: readonly WantedCluster[];
  readonly sources: readonly NewSource[];
  readonly others: boolean;
}

/** They are read before anything is opened. Throws `manifest.invalid` with a line for every fault. */
export const documentsIn = (files: readonly ManifestSource[]): FoundDocuments => {
  const [clusters, sources] = [clustersIn(files), sourcesIn(files)];
  return {
    clusters: clusters.values,
    sources: sources.values,
    others: clusters.others && sources.others,
  };
};

/** The code for clusters is loaded where the files have one. */
const clusterCode = () => import("./cluster-documents.ts");

/**
 * Stores what files hold: clusters, then sources, then the autoscalers, which name both. Then it
 * deletes what the plan finds in no document.
 */
export const applyDocuments = async (
  session: Session,
  surroundings: CommandSurroundings<"interruptible">,
  files: readonly ManifestSource[],
  options: ApplyCommandOptions & {
    readonly documents: FoundDocuments;
    readonly plan: PrunePlan | undefined;
  },
): Promise<void> => {
  const { printer } = surroundings;
  const { documents, plan, dryRun = false } = options;
  const { clusters, sources, others } = documents;
  const isNew = others && (await isAdded(session, options.cluster, clusters));
  // A refused autoscaler must leave no cluster and no source stored, so that all autoscalers are
  // checked before.
  if (others && clusters.length + sources.length > 0 && !dryRun && !isNew)
    await check(session, files, options);
  if (clusters.length > 0)
    await (await clusterCode()).applyClusters(session, printer, clusters, options);
  await applySources(session, printer, sources, dryRun);
  if (isNew && dryRun)
    printer.report(
      `the autoscalers are not compared: cluster "${options.cluster}" is added by this apply`,
    );
  else if (others) {
    const applied = await apply(session, surroundings, files, options);
    if (plan) await prune(session.service, printer, applied, { ...plan, dryRun });
  }
  if (plan && clusters.length > 0)
    await (await clusterCode()).pruneClusters(session, printer, clusters, { ...plan, dryRun });
};

/** True where the autoscalers are for a cluster that only the documents beside them add. */
const isAdded = async (
  { service }: Session,
  name: string | undefined,
  clusters: FoundDocuments["clusters"],
): Promise<boolean> => {
  if (name === undefined || !clusters.some((each) => each.name === name)) return false;
  for await (const known of service.clusters()) if (known.name === name) return false;
  return true;
};
