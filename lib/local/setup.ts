import { resolve } from "node:path";
import { type About, type Deployment, readAbout, refuseOther } from "./about.ts";
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

/** Throws `local.folder-differs`, `local.unreadable` and, for manifests that cannot be applied, `manifest.*`. Writes nothing. */
export const setupOf = (layout: FolderLayout, options: RunOptions): Setup => {
  const trace = options.trace === undefined ? undefined : resolve(options.trace);
  const kind = options.kubeconfig === undefined ? "simulated" : "kubeconfig";
  const about = readAbout(layout);
  if (about) {
    refuseOther(layout, about, { kind, ...(options.seed !== undefined && { seed: options.seed }), ...(trace !== undefined && { trace }) });
    return { about, resumed: true, manifests: options.manifest.length > 0 ? manifestFiles(options.manifest, false) : [] };
  }
  if (kind === "kubeconfig") {
    // Nothing is scaled on a real cluster that nobody asked for by name.
    const manifests = options.manifest.length > 0 ? manifestFiles(options.manifest, false) : [];
    return { about: { kind, startMs: Date.now() }, resumed: false, manifests };
  }
  const manifests = manifestFiles(options.manifest, trace !== undefined);
  const fresh = { kind, seed: options.seed ?? DEFAULT_SEED, startMs: VIRTUAL_START_MS, deployments: sorted(deploymentsOf(manifests)) } as const;
  return { about: trace === undefined ? fresh : { ...fresh, trace }, resumed: false, manifests };
};

const sorted = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
