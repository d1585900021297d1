import { TidemarkError } from "../../model/errors.ts";
import type { Deployment, FolderIdentity, RealIdentity, SimulatedIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { newFolderBeside } from "../folder/refused-folder.ts";
import { shellWord } from "./shell-word.ts";
import { START_WORDS } from "./start-words.ts";

/** The options of this start, as far as the folder has fixed them. */
export interface RequestedRun {
  readonly kind: FolderIdentity["kind"];
  readonly seed?: number;
  readonly trace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The targets of the manifests of the command line. */
  readonly targets: readonly Deployment[];
  /** The arguments without `--data`, for the command that begins anew. */
  readonly args: readonly string[];
}

/** Throws `local.folder-differs`, with the command to run instead, when the folder belongs to a run with other options. */
export const refuseOther = (layout: FolderLayout, identity: FolderIdentity, requested: RequestedRun): void => {
  const differs = difference(identity, requested);
  if (differs === undefined) return;
  const command = [START_WORDS, ...requested.args.map(shellWord), "--data", shellWord(newFolderBeside(layout.dir))].join(" ");
  throw new TidemarkError("local.folder-differs", `Cannot continue in "${layout.dir}": ${differs}; for a run of its own: ${command}`, {
    dir: layout.dir,
  });
};

const WHAT = { simulated: "a simulated cluster", kubeconfig: "a real cluster" } as const;

const difference = (identity: FolderIdentity, requested: RequestedRun): string | undefined => {
  if (identity.kind !== requested.kind) return `it belongs to ${WHAT[identity.kind]}, not to ${WHAT[requested.kind]}`;
  return identity.kind === "simulated" ? otherSimulation(identity, requested) : otherCluster(identity, requested);
};

/** Autoscalers of one cluster are never written to another because its kubeconfig has changed. Folders of earlier versions do not say which they are of. */
const otherCluster = (identity: RealIdentity, { kubeconfig, context }: RequestedRun): string | undefined => {
  if (identity.kubeconfig === undefined) return undefined;
  if (kubeconfig !== identity.kubeconfig) return `it belongs to the cluster of "${identity.kubeconfig}", not of "${kubeconfig}"`;
  return context === identity.context ? undefined : `it belongs to the context "${identity.context}" of its kubeconfig, not to "${context}"`;
};

const otherSimulation = (identity: SimulatedIdentity, { seed, trace, targets }: RequestedRun): string | undefined => {
  if (seed !== undefined && seed !== identity.seed) return `its seed is ${identity.seed}, not ${seed}`;
  if (trace !== undefined && trace !== identity.trace) return `it plays ${identity.trace ?? "the recorded workloads of the demonstration"}`;
  return targets.map((target) => otherTarget(identity, target)).find((differs) => differs !== undefined);
};

const otherTarget = ({ deployments }: SimulatedIdentity, { namespace, name, trace, replicas }: Deployment): string | undefined => {
  const known = deployments.find((deployment) => deployment.namespace === namespace && deployment.name === name);
  if (!known) return `its cluster has no Deployment "${namespace}/${name}"`;
  if (trace !== undefined && trace !== known.trace) return `"${namespace}/${name}" plays ${known.trace ?? "another load"} there, not ${trace}`;
  if (replicas === undefined || replicas === known.replicas) return undefined;
  return `"${namespace}/${name}" began with ${known.replicas ?? "another number of"} pods there, not with ${replicas}`;
};
