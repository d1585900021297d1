import { join, resolve } from "node:path";

/** Where everything that an embedded run keeps lies: whoever deletes the folder has deleted the run. */
export interface FolderLayout {
  readonly dir: string;
  /** What the folder is for, written once by its first run: kind, seed, workloads. */
  readonly about: string;
  /** The folder's clock. */
  readonly clock: string;
  /** One file per process that uses the folder now (folder-lock.ts). */
  readonly locks: string;
  /** LevelDB of the embedded DynamoDB. */
  readonly tables: string;
  /** Journal of the queue. */
  readonly queue: string;
  /** The next minute that the scheduler owes. */
  readonly schedule: string;
  /** State, keys and certificates of the simulated cluster. */
  readonly cluster: string;
  /** Structured log lines of the functions, one JSON object each. */
  readonly log: string;
}

/** The folder that commands use when nobody names one. */
export const DEFAULT_DATA_FOLDER = ".tidemark";

export const folderLayout = (folder: string): FolderLayout => {
  const dir = resolve(folder);
  return {
    dir,
    about: join(dir, "about.json"),
    clock: join(dir, "clock.json"),
    locks: join(dir, "locks"),
    tables: join(dir, "tables"),
    queue: join(dir, "queue.jsonl"),
    schedule: join(dir, "schedule.json"),
    cluster: join(dir, "cluster"),
    log: join(dir, "log.jsonl"),
  };
};
