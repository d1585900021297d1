import { shellWord } from "../stack/report/shell-word.ts";
import { lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The paths of all files of an embedded run. Deleting the folder deletes the run. */
export interface FolderLayout {
  readonly dir: string;
  /** The folder as it was named, for commands in hints. */
  readonly named: string;
  /** What the folder is for, and the mark that it is a data folder of ours (identity.ts). */
  readonly identity: string;
  /** The folder's clock. */
  readonly clock: string;
  /** One file per process that uses the folder now (lock.ts). */
  readonly locks: string;
  /** LevelDB of the embedded DynamoDB. */
  readonly tables: string;
  /** Journal of the queue. */
  readonly queue: string;
  /** The next minute of the scheduler. */
  readonly schedule: string;
  /** Which events were sent, with --events-url. */
  readonly events: string;
  /** State, keys and certificates of the simulated cluster. */
  readonly cluster: string;
  /** Structured log lines of the functions, one JSON object each. */
  readonly log: string;
  /**
   * Sizes and checksums of the other files, written when the folder was closed in good order
   * (seal.ts).
   */
  readonly seal: string;
}

/** The folder of the demonstration, and of commands when no run is alive in another. */
export const DEFAULT_DATA_FOLDER = ".tidemark";

/** Files of the simulated cluster inside `cluster`, whose state cannot be made again. */
export const CLUSTER_WRITES = "cluster-writes.jsonl";
/** The autoscalers that people keep in it; absent while there are none. */
export const CLUSTER_OBJECTS = "cluster-objects.json";
export const CLUSTER_CREDENTIALS = "cluster-credentials.json";
export const CLUSTER_KUBECONFIG = "kubeconfig";

/** The names of the clusters that a run makes by itself: `local-01`, `local-02`. */
export const fleetNames = (clusters: number): readonly string[] => {
  const { length } = String(clusters);
  return Array.from(
    { length: clusters },
    (_, at) => `local-${String(at + 1).padStart(length, "0")}`,
  );
};

/** Each of them has a folder inside `cluster`. */
const FLEET_FOLDER = /^local-\d+$/;

/** The folders of simulated clusters that are there: `cluster`, and those in it of a fleet. */
export const clusterFolders = ({ cluster }: FolderLayout): readonly string[] => {
  if (lstatSync(cluster, { throwIfNoEntry: false })?.isDirectory() !== true) return [cluster];
  return [
    cluster,
    ...readdirSync(cluster)
      .filter((name) => FLEET_FOLDER.test(name))
      .map((name) => join(cluster, name)),
  ];
};

export const folderLayout = (folder: string): FolderLayout => {
  const dir = resolve(folder);
  return {
    dir,
    named: folder,
    identity: join(dir, "about.json"),
    clock: join(dir, "clock.json"),
    locks: join(dir, "locks"),
    tables: join(dir, "tables"),
    queue: join(dir, "queue.jsonl"),
    schedule: join(dir, "schedule.json"),
    events: join(dir, "events.json"),
    cluster: join(dir, "cluster"),
    log: join(dir, "log.jsonl"),
    seal: join(dir, "seal.json"),
  };
};

/**
 * Names of what the embedded run keeps; other rooms that open a data folder need the names of the
 * tables.
 */
export const TABLE_NAMES = {
  stateTable: "tidemark-state",
  historyTable: "tidemark-history",
} as const;

export const SYNC_QUEUE = "sync";
export const DEAD_LETTERS = "sync-dead";

export const FUNCTION_NAMES = { schedule: "schedule", sync: "sync" } as const;

/**
 * Of the clusters that a run makes by itself, each has a server of its own in the process of the
 * run.
 */
export const CLUSTERS_MAX = 200;
export const AUTOSCALERS_MAX = 10_000;
/** Autoscalers of a cluster where only the number of clusters is given. */
export const AUTOSCALERS_EACH = 100;

const MAX_LENGTH = 63;

/** A valid name of a cluster, made of any text: small letters, digits and dashes. */
export const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "") || "cluster";

/**
 * ` --data DIR` as a person must type it for this folder, or empty where the commands find the
 * folder by themselves.
 */
export const dataOption = (data: string): string =>
  resolve(data) === resolve(DEFAULT_DATA_FOLDER) ? "" : ` --data ${shellWord(data)}`;

/** What a person types to start a run: in the clone `npm start`, which runs the TypeScript; with the installed package its command. */
export const START_WORDS = import.meta.url.endsWith(".ts") ? "npm start --" : "npx tidemark start";
