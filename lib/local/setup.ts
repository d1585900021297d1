import { resolve } from "node:path";
import { type About, type Asked, type Deployment, readAbout, refuseOther } from "./about.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { deploymentsOf, type ManifestFile, manifestFiles } from "./manifests.ts";
import type { RunOptions } from "./options.ts";

/** What this run is to do, from what the person asked and what the folder holds. */
export interface Setup {
  readonly about: About;
  /** True when the folder was used before: then it goes on. */
  readonly resumed: boolean;
  /** To apply before the first sync; on a resumed folder only what the person named. */
  readonly manifests: readonly ManifestFile[];
}

/** Virtual time of every simulated run begins here, so that the same run has the same times whenever it is made: a Monday, 08:00 UTC. */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 5, 8);
const DEFAULT_SEED = 1;
/** A deployment of the demonstration that nobody scales until a person applies examples/checkout.yaml. */
const UNSCALED: Deployment = { namespace: "shop", name: "checkout" };

/** Throws `local.folder-differs`, `local.unreadable` and, for manifests that cannot be applied, `manifest.*`. Writes nothing. */
export const setupOf = (layout: FolderLayout, options: RunOptions): Setup => {
  const about = readAbout(layout);
  // Beyond what a simulation begins with, nothing is scaled that nobody asked for by name.
  const named = options.manifest.length > 0 ? manifestFiles(options.manifest, false) : [];
  if (about) {
    refuseOther(layout, about, askedOf(options));
    return { about, resumed: true, manifests: named };
  }
  if (options.kubeconfig !== undefined) return { about: { kind: "kubeconfig", startMs: Date.now() }, resumed: false, manifests: named };
  const trace = tracePath(options);
  const manifests = manifestFiles(options.manifest, trace !== undefined);
  const demonstration = named.length === 0 && trace === undefined;
  const deployments = sorted([...deploymentsOf(manifests), ...(demonstration ? [UNSCALED] : [])]);
  const fresh = { kind: "simulated", seed: options.seed ?? DEFAULT_SEED, startMs: VIRTUAL_START_MS, deployments } as const;
  return { about: trace === undefined ? fresh : { ...fresh, trace }, resumed: false, manifests };
};

const tracePath = ({ trace }: RunOptions): string | undefined => (trace === undefined ? undefined : resolve(trace));

const askedOf = (options: RunOptions): Asked => {
  const trace = tracePath(options);
  return {
    kind: options.kubeconfig === undefined ? "simulated" : "kubeconfig",
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(trace !== undefined && { trace }),
  };
};

const sorted = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
