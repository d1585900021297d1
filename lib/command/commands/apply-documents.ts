import {
  clustersIn,
  type WantedCluster,
} from "../../answers/service/clusters/cluster-documents.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import type { ManifestSource } from "../../answers/service/service.ts";
import { sourcesIn } from "../../answers/service/sources/source-documents.ts";
import { type WakeOfFile, wakesIn } from "../../answers/service/wakes/wake-documents.ts";
import type { CommandSurroundings, Printer, Session } from "../io.ts";
import { type ApplyCommandOptions, apply, check, prune, type PrunePlan } from "./apply.ts";
import { applySources } from "./source.ts";

/** The documents of the fleet among files, and whether anything else is in the files. */
export interface FoundDocuments {
  readonly clusters: readonly WantedCluster[];
  readonly sources: readonly NewSource[];
  readonly wakes: readonly WakeOfFile[];
  readonly others: boolean;
}

/** They are read before anything is opened. Throws `manifest.invalid` with a line for every fault. */
export const documentsIn = (files: readonly ManifestSource[]): FoundDocuments => {
  const [clusters, sources, wakes] = [clustersIn(files), sourcesIn(files), wakesIn(files)];
  return {
    clusters: clusters.values,
    sources: sources.values,
    wakes: wakes.values,
    others: clusters.others && sources.others && wakes.others,
  };
};

/** The code for clusters is loaded where the files have one. */
const clusterCode = () => import("./cluster-documents.ts");
const wakeCode = () => import("./wake-documents.ts");

/**
 * Stores what files hold: clusters, then sources and wakes, then the autoscalers, which name
 * sources. Then it deletes what the plan finds in no document.
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
  const { clusters, sources, wakes, others } = documents;
  const isNew = others && (await isAdded(session, options.cluster, clusters));
  // A refused autoscaler must leave no cluster and no source stored, so that all autoscalers are
  // checked before.
  if (others && clusters.length + sources.length + wakes.length > 0 && !dryRun && !isNew)
    await check(session, files, options);
  if (clusters.length > 0)
    await (await clusterCode()).applyClusters(session, printer, clusters, options);
  await applySources(session, printer, sources, dryRun);
  if (wakes.length > 0) await (await wakeCode()).applyWakes(session, printer, wakes, dryRun);
  if (isNew && dryRun)
    printer.report(
      `the autoscalers are not compared: cluster "${options.cluster}" is added by this apply`,
    );
  else if (others) {
    const applied = await apply(session, surroundings, files, options);
    if (plan) await prune(session.service, printer, applied, { ...plan, dryRun });
  }
  if (plan) await pruneFleet(session, printer, documents, { ...plan, dryRun });
};

/** Of each kind only where the files have one: an input without wakes owns none. */
const pruneFleet = async (
  session: Session,
  printer: Printer,
  { clusters, wakes }: FoundDocuments,
  plan: PrunePlan & { readonly dryRun: boolean },
): Promise<void> => {
  if (wakes.length > 0) await (await wakeCode()).pruneWakes(session, printer, wakes, plan);
  if (clusters.length > 0)
    await (await clusterCode()).pruneClusters(session, printer, clusters, plan);
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
