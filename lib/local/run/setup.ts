import { basename, resolve } from "node:path";
import { type Deployment, type FolderIdentity, readIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { contextOf } from "./kubeconfig-file.ts";
import { labelOf } from "./label.ts";
import { deploymentsOf, type ManifestFile, manifestFiles } from "./manifest-files.ts";
import type { RunOptions } from "./options.ts";
import { type RequestedRun, refuseOther } from "./same-run.ts";

/** What this run does, computed from its options and its folder. */
export interface Setup {
  readonly identity: FolderIdentity;
  /** True when the folder was used before, so that this run continues it. */
  readonly resumed: boolean;
  /** The manifests to apply before the first sync; on a resumed folder only those of the command line. */
  readonly manifests: readonly ManifestFile[];
}

/** Virtual time of every simulated run begins here, so that the same run has the same times whenever it is made: a Monday, 08:00 UTC. */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 5, 8);
const DEFAULT_SEED = 1;
/** A deployment of the demonstration without an autoscaler, for examples/checkout.yaml. */
const UNSCALED: Deployment = { namespace: "shop", name: "checkout" };

/** Throws `local.folder-differs`, `local.unreadable` and, for manifests that cannot be applied, `manifest.*`. Writes nothing. */
export const setupOf = (layout: FolderLayout, options: RunOptions): Setup => {
  const identity = readIdentity(layout);
  const trace = options.trace === undefined ? undefined : resolve(options.trace);
  // After the first start of a simulation only the manifests of the command line are applied.
  const named = options.manifest.length > 0 ? manifestFiles(options.manifest, false) : [];
  // Also for a real cluster: manifests that cannot be applied are refused before anything is written.
  const targets = deploymentsOf(named);
  const real = options.kubeconfig === undefined ? undefined : realIdentity(options.kubeconfig, options.context);
  if (identity !== undefined && identity !== "beginning") {
    refuseOther(layout, identity, askedOf(options, trace, targets, real));
    // A folder of an earlier version does not name its cluster. The tables do, and the name follows from the arguments.
    return { identity: identity, resumed: true, manifests: named };
  }
  if (real) return { identity: real, resumed: false, manifests: named };
  const manifests = named.length > 0 ? named : manifestFiles([], trace !== undefined);
  const demonstration = named.length === 0 && trace === undefined;
  const deployments = sorted([...deploymentsOf(manifests, options.validate), ...(demonstration ? [UNSCALED] : [])]);
  const fresh = { kind: "simulated", seed: options.seed ?? DEFAULT_SEED, startMs: VIRTUAL_START_MS, deployments } as const;
  return { identity: trace === undefined ? fresh : { ...fresh, trace }, resumed: false, manifests };
};

/** The cluster is named after its context, or after the file where there is none. */
const realIdentity = (file: string, named: string | undefined) => {
  const context = contextOf(file, named);
  const cluster = labelOf(context ?? basename(file));
  return { kind: "kubeconfig", startMs: Date.now(), cluster, kubeconfig: resolve(file), ...(context !== undefined && { context }) } as const;
};

const askedOf = (
  { seed, args }: RunOptions,
  trace: string | undefined,
  targets: readonly Deployment[],
  real: ReturnType<typeof realIdentity> | undefined,
): RequestedRun => ({
  kind: real ? "kubeconfig" : "simulated",
  args,
  targets,
  ...(seed !== undefined && { seed }),
  ...(trace !== undefined && { trace }),
  ...(real && { kubeconfig: real.kubeconfig }),
  ...(real?.context !== undefined && { context: real.context }),
});

const sorted = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
