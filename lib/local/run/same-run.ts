import { TidemarkError } from "../../model/errors.ts";
import type { About, Deployment, RealAbout, SimulatedAbout } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { newFolderBeside } from "../folder/refused-folder.ts";
import { shellWord } from "./shell-word.ts";
import { START_WORDS } from "./start-words.ts";

/** The options of this start, as far as the folder has fixed them. */
export interface Asked {
  readonly kind: About["kind"];
  readonly seed?: number;
  readonly trace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** What the manifests named on the command line scale. */
  readonly targets: readonly Deployment[];
  /** The arguments without `--data`, for the command that begins anew. */
  readonly given: readonly string[];
}

/** Throws `local.folder-differs`, with the command to run instead, when the folder cannot go on as it is asked to. */
export const refuseOther = (layout: FolderLayout, about: About, asked: Asked): void => {
  const differs = difference(about, asked);
  if (differs === undefined) return;
  const command = [START_WORDS, ...asked.given.map(shellWord), "--data", shellWord(newFolderBeside(layout.dir))].join(" ");
  throw new TidemarkError("local.folder-differs", `Cannot continue in "${layout.dir}": ${differs}; for a run of its own: ${command}`, {
    dir: layout.dir,
  });
};

const WHAT = { simulated: "a simulated cluster", kubeconfig: "a real cluster" } as const;

const difference = (about: About, asked: Asked): string | undefined => {
  if (about.kind !== asked.kind) return `it belongs to ${WHAT[about.kind]}, not to ${WHAT[asked.kind]}`;
  return about.kind === "simulated" ? otherSimulation(about, asked) : otherCluster(about, asked);
};

/** Autoscalers of one cluster are never written to another because its kubeconfig has changed. Folders of earlier versions do not say which they are of. */
const otherCluster = (about: RealAbout, { kubeconfig, context }: Asked): string | undefined => {
  if (about.kubeconfig === undefined) return undefined;
  if (kubeconfig !== about.kubeconfig) return `it belongs to the cluster of "${about.kubeconfig}", not of "${kubeconfig}"`;
  return context === about.context ? undefined : `it belongs to the context "${about.context}" of its kubeconfig, not to "${context}"`;
};

const otherSimulation = (about: SimulatedAbout, { seed, trace, targets }: Asked): string | undefined => {
  if (seed !== undefined && seed !== about.seed) return `its seed is ${about.seed}, not ${seed}`;
  if (trace !== undefined && trace !== about.trace) return `it plays ${about.trace ?? "the recorded workloads of the demonstration"}`;
  return targets.map((target) => otherTarget(about, target)).find((differs) => differs !== undefined);
};

const otherTarget = ({ deployments }: SimulatedAbout, { namespace, name, trace, replicas }: Deployment): string | undefined => {
  const known = deployments.find((deployment) => deployment.namespace === namespace && deployment.name === name);
  if (!known) return `its cluster has no Deployment "${namespace}/${name}"`;
  if (trace !== undefined && trace !== known.trace) return `"${namespace}/${name}" plays ${known.trace ?? "another load"} there, not ${trace}`;
  if (replicas === undefined || replicas === known.replicas) return undefined;
  return `"${namespace}/${name}" began with ${known.replicas ?? "another number of"} pods there, not with ${replicas}`;
};
