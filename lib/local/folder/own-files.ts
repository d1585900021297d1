import { join } from "node:path";
import type { FolderIdentity } from "./identity.ts";
import { CLUSTER_CREDENTIALS, CLUSTER_KUBECONFIG, CLUSTER_OBJECTS, CLUSTER_WRITES, clusterFolders, type FolderLayout, fleetNames } from "./layout.ts";

/** Files of LevelDB (its doc/impl.md), and nothing else, lie in `tables`. */
const LEVELDB_FILE = /^(?:CURRENT|LOCK|LOG|LOG\.old|MANIFEST-\d+|\d+\.(?:log|ldb|sst|dbtmp))$/;
const CLUSTER_FILES: ReadonlySet<string> = new Set([CLUSTER_WRITES, CLUSTER_OBJECTS, CLUSTER_CREDENTIALS, CLUSTER_KUBECONFIG]);
const DRAFT = /\.\d+\.draft$/;

/** A folder inside the data folder, and which names in it are of ours. */
export interface OwnFolder {
  readonly path: string;
  readonly owns: (name: string) => boolean;
}

/** Files of LevelDB that say what it did and hold no data. */
export const isLevelDbNote = (name: string): boolean => name === "LOCK" || name === "LOG" || name === "LOG.old";

/** Every folder inside the data folder that a run makes; `locks` looks after itself (lock.ts). */
export const ownFolders = (layout: FolderLayout): readonly OwnFolder[] => [
  { path: layout.tables, owns: (name) => LEVELDB_FILE.test(name) },
  // The folders inside come before the one that holds them, in which they are removed first.
  ...clusterFolders(layout)
    .toReversed()
    .map((path) => ({ path, owns: (name: string) => CLUSTER_FILES.has(name.replace(DRAFT, "")) })),
];

/** Every file in the data folder itself that a run makes, without about.json. */
export const ownFiles = ({ clock, queue, schedule, log, seal }: FolderLayout): readonly string[] => [clock, queue, schedule, log, seal];

/** What must be there when a run goes on, or a command opens the folder: these files cannot be made again. */
export const neededFiles = (layout: FolderLayout, use: "command" | FolderIdentity): readonly string[] => {
  if (use === "command") return [layout.clock];
  const cluster = folderOfClusters(layout, use).flatMap((folder) => [CLUSTER_WRITES, CLUSTER_CREDENTIALS].map((name) => join(folder, name)));
  return [layout.clock, layout.queue, layout.schedule, ...cluster];
};

const folderOfClusters = (layout: FolderLayout, identity: FolderIdentity): readonly string[] => {
  if (identity.kind === "kubeconfig") return [];
  return identity.fleet ? fleetNames(identity.fleet.clusters).map((name) => join(layout.cluster, name)) : [layout.cluster];
};

export const isDraftOf = (path: string, name: string): boolean => DRAFT.test(name) && path.endsWith(`/${name.replace(DRAFT, "")}`);
