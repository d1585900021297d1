import * as z from "zod";
import { join, relative } from "node:path";
import type { FolderIdentity } from "./identity.ts";
import { type FolderNames, sealedNames } from "./names.ts";
import {
  CLUSTER_CREDENTIALS,
  CLUSTER_KUBECONFIG,
  CLUSTER_OBJECTS,
  CLUSTER_WRITES,
  clusterFolders,
  type FolderLayout,
  fleetNames,
} from "../layout.ts";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { crc32 } from "node:zlib";
import { isMissing, readJsonIfThere, writeWhole } from "../host/whole-file.ts";

/** Files of LevelDB (its doc/impl.md), and nothing else, lie in `tables`. */
const LEVELDB_FILE = /^(?:CURRENT|LOCK|LOG|LOG\.old|MANIFEST-\d+|\d+\.(?:log|ldb|sst|dbtmp))$/;
const CLUSTER_FILES: ReadonlySet<string> = new Set([
  CLUSTER_WRITES,
  CLUSTER_OBJECTS,
  CLUSTER_CREDENTIALS,
  CLUSTER_KUBECONFIG,
]);
const DRAFT = /\.\d+\.draft$/;

/** A folder inside the data folder, and which names in it are of ours. */
export interface OwnFolder {
  readonly path: string;
  readonly owns: (name: string) => boolean;
}

/** Files of LevelDB that say what it did and hold no data. */
const isLevelDbNote = (name: string): boolean =>
  name === "LOCK" || name === "LOG" || name === "LOG.old";

/** Every folder inside the data folder that a run makes; `locks` looks after itself (lock.ts). */
export const ownFolders = (layout: FolderLayout): readonly OwnFolder[] => [
  { path: layout.tables, owns: (name) => LEVELDB_FILE.test(name) },
  // The folders inside come before the one that holds them, in which they are removed first.
  ...clusterFolders(layout)
    .toReversed()
    .map((path) => ({ path, owns: (name: string) => CLUSTER_FILES.has(name.replace(DRAFT, "")) })),
];

/** Every file in the data folder itself that a run makes, without about.json. */
export const ownFiles = ({
  clock,
  queue,
  schedule,
  events,
  log,
  seal,
}: FolderLayout): readonly string[] => [clock, queue, schedule, events, log, seal];

/**
 * What must be there when a run goes on, or a command opens the folder: these files cannot be made
 * again.
 */
export const neededFiles = (
  layout: FolderLayout,
  use: "command" | FolderIdentity,
): readonly string[] => {
  if (use === "command") return [layout.clock];
  const cluster = folderOfClusters(layout, use).flatMap((folder) =>
    [CLUSTER_WRITES, CLUSTER_CREDENTIALS].map((name) => join(folder, name)),
  );
  return [layout.clock, layout.queue, layout.schedule, ...cluster];
};

const folderOfClusters = (layout: FolderLayout, identity: FolderIdentity): readonly string[] => {
  if (identity.kind === "kubeconfig") return [];
  return identity.fleet
    ? fleetNames(identity.fleet.clusters).map((name) => join(layout.cluster, name))
    : [layout.cluster];
};

export const isDraftOf = (path: string, name: string): boolean =>
  DRAFT.test(name) && path.endsWith(`/${name.replace(DRAFT, "")}`);

const entrySchema = z.object({ bytes: z.int(), mtimeMs: z.number(), crc32: z.int() });
const sealSchema = z.object({ files: z.record(z.string(), entrySchema) });
type Entry = z.infer<typeof entrySchema>;
type Files = Readonly<Record<string, Entry>>;

/** The files that a command writes (tables and clock), or the files of a whole run. */
export type Sealed = "command" | "run";

/**
 * Writes down how the files of a folder are that was closed in good order, so that the next process
 * sees when one is missing, cut off or changed. A process that writes to the folder breaks the seal
 * first: after a `kill -9` there is none, and then each file only has to be readable. Sealing by a
 * command leaves what it did not write as it was sealed.
 */
export const sealFolder = (
  layout: FolderLayout,
  sealed: Sealed,
  before?: Seal,
  names?: FolderNames,
): void => {
  const now = sealedFiles(layout, sealed).flatMap((name) => {
    const entry = entryOf(join(layout.dir, name), before?.files[name]);
    return entry ? [[name, entry] as const] : [];
  });
  const files = { ...without(readSeal(layout), sealed), ...Object.fromEntries(now) };
  writeWhole(layout.seal, JSON.stringify({ files, ...(names && { names }) }));
};

/**
 * What a seal says: the files, and the names that the tables hold, which a shell completes without
 * opening them.
 */
export interface Seal {
  readonly files: Files;
  readonly names?: FolderNames;
}

/**
 * Removes the seal, and with it the names, from the files that are about to be written. Returns
 * what it said, which saves `sealFolder` most of the reading.
 */
export const breakSeal = (layout: FolderLayout, sealed: Sealed): Seal => {
  const files = readSeal(layout);
  const names = sealedNames(layout);
  const rest = without(files, sealed);
  if (Object.keys(rest).length > 0) writeWhole(layout.seal, JSON.stringify({ files: rest }));
  else rmSync(layout.seal, { force: true });
  return { files, ...(names && { names }) };
};

/**
 * What is not as it was when the folder was last closed in good order: one sentence for each file,
 * and none for a file of `tables` where all of it is gone.
 */
export const brokenFiles = (layout: FolderLayout, sealed: Sealed): readonly string[] => {
  const files = readSeal(layout);
  const noTables = !existsSync(layout.tables);
  const wanted = Object.entries(files).filter(
    ([name]) => isOf(name, sealed) && !(noTables && name.startsWith(TABLES)),
  );
  return wanted.flatMap(([name, entry]) => {
    const present = entryOf(join(layout.dir, name), entry);
    if (!present) return [`${name} is missing`];
    return present.bytes === entry.bytes && present.crc32 === entry.crc32
      ? []
      : [`${name} is not as the last run left it`];
  });
};

/** True when the tables were closed in good order and not opened since. */
export const hasSealedTables = (layout: FolderLayout): boolean =>
  Object.keys(readSeal(layout)).some((name) => name.startsWith(TABLES));

const readSeal = (layout: FolderLayout): Files =>
  readJsonIfThere(layout.seal, sealSchema)?.files ?? {};

const TABLES = "tables/";
const isOf = (name: string, sealed: Sealed): boolean =>
  sealed === "run" || name.startsWith(TABLES) || name === "clock.json";

const without = (files: Files, sealed: Sealed): Files =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !isOf(name, sealed)));

const sealedFiles = (layout: FolderLayout, sealed: Sealed): readonly string[] => {
  const tables = readdirSync(layout.tables).filter((name) => !isLevelDbNote(name));
  const others = [
    layout.queue,
    layout.schedule,
    ...clusterFolders(layout).map((folder) => join(folder, CLUSTER_WRITES)),
  ];
  return [
    ...tables.map((name) => `${TABLES}${name}`),
    ...[layout.clock, ...(sealed === "run" ? others : [])].map((path) =>
      relative(layout.dir, path),
    ),
  ];
};

/**
 * A file of the same size and time as before is taken to hold the same: only others are read.
 * Undefined when it is not there.
 */
const entryOf = (path: string, before: Entry | undefined): Entry | undefined => {
  try {
    const { size: bytes, mtimeMs } = statSync(path);
    if (before && before.bytes === bytes && before.mtimeMs === mtimeMs) return before;
    return { bytes, mtimeMs, crc32: crc32(readFileSync(path)) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
