import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Closing } from "../host/closing.ts";
import { systemReason } from "../host/failure-text.ts";
import { type HeldFolder, holdFolder, refuseLivingRun } from "./folder-lock.ts";
import { readIdentity, writeMark } from "./identity.ts";
import type { FolderLayout } from "../layout.ts";
import { isDraftOf, type OwnFolder, ownFiles, ownFolders } from "./seal.ts";
import { folderState, notOurs, refuseUnsafeFolder } from "./state.ts";
import { isSystemError } from "../host/whole-file.ts";

/** How long a run waits for a command that holds the folder. */
const PATIENCE_MS = 10_000;

/**
 * Throws when a start in this folder is refused, as far as that is known without the lock of the
 * folder. Changes nothing.
 */
export const refuseFolder = (layout: FolderLayout): void => {
  const state = folderState(layout);
  if (state.kind !== "absent") {
    refuseUnsafeFolder(layout);
    refuseLivingRun(layout);
  }
  // A new run would write its files among the files of a person.
  if ((state.kind === "absent" || state.kind === "empty") && layout.dir === process.cwd())
    throw notOurs(layout.dir, "it is the working directory; name a new folder with --data");
};

export interface TakenFolder extends HeldFolder {
  /** The start has succeeded: what was made for it stays. */
  readonly keep: () => void;
}

/**
 * Makes the folder where there is none and takes it only for this run. What was made for a start
 * that fails is removed again when the run is closed.
 */
export const takeFolder = async (layout: FolderLayout, closer: Closing): Promise<TakenFolder> => {
  const made = [...makeFolders(layout.dir), ...(existsSync(layout.locks) ? [] : [layout.locks])];
  let kept = false;
  closer.add(() => {
    if (!kept) for (const path of made.reverse()) removeIfEmpty(path);
  });
  const held = await holdFolder(layout, "run", PATIENCE_MS);
  closer.add(held.release);
  closer.add(() => {
    if (readIdentity(layout) === "beginning") forgetBeginning(layout);
  });
  return {
    ...held,
    keep: () => {
      kept = true;
    },
  };
};

/**
 * Marks an empty folder as ours, or clears what a start left in it that died; from here on the
 * folder holds nothing that was not made by us. The caller holds the folder.
 */
export const beginFolder = (layout: FolderLayout): void => {
  // A second check, now that no other process changes the folder.
  if (folderState(layout).kind === "beginning") clearHalfBegun(layout);
  writeMark(layout);
};

const forgetBeginning = (layout: FolderLayout): void => {
  clearHalfBegun(layout);
  rmSync(layout.identity, { force: true });
};

/**
 * Makes the folder and those above it, and gives those that it made, the uppermost first. Keys lie
 * in it: only its owner may read it. Step by step, because Node's recursive mkdir never returns
 * where a folder cannot be made, as in /proc.
 */
const makeFolders = (dir: string): readonly string[] => {
  const missing: string[] = [];
  for (let path = dir; !existsSync(path) && path !== dirname(path); path = dirname(path))
    missing.unshift(path);
  const made: string[] = [];
  try {
    for (const path of missing) {
      mkdirSync(path, { mode: 0o700 });
      made.push(path);
    }
  } catch (error) {
    for (const path of made.toReversed()) removeIfEmpty(path);
    if (isSystemError(error))
      throw notOurs(
        dir,
        error.code === "ENOENT" ? "no folder can be made there" : systemReason(error.code),
      );
    throw error;
  }
  return made;
};

const removeIfEmpty = (path: string): void => {
  try {
    rmdirSync(path);
  } catch (error) {
    // The folder is not empty, or it is gone: a person or another process uses it.
    if (!isSystemError(error)) throw error;
  }
};

/**
 * Removes the files of a first start that died before the folder was ready. No sync had run yet,
 * and a table that was not complete when its engine died can never be completed. Only files with
 * the names that a run uses are removed, one by one, and only empty folders. Files of a person
 * stay, and the start refuses them. The mark in about.json says that the folder was empty before.
 * The caller has the lock of the folder.
 */
const clearHalfBegun = (layout: FolderLayout): void => {
  for (const folder of ownFolders(layout)) clearFolder(layout, folder);
  for (const name of readdirSync(layout.dir)) {
    const path = join(layout.dir, name);
    if (
      ownFiles(layout).some((own) => own === path || isDraftOf(own, name)) ||
      isDraftOf(layout.identity, name)
    )
      unlinkFile(path);
  }
};

const clearFolder = (layout: FolderLayout, { path, owns }: OwnFolder): void => {
  // A run makes no links, so a link and its target belong to a person.
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const [foreign] = readdirSync(path).filter((name) => !owns(name));
  if (foreign !== undefined)
    throw notOurs(
      layout.dir,
      `"${basename(path)}/${foreign}" is not of Tidemark; move it away, or name another folder with --data`,
    );
  for (const name of readdirSync(path)) unlinkFile(join(path, name));
  rmdirSync(path);
};

const unlinkFile = (path: string): void => {
  if (lstatSync(path).isFile()) unlinkSync(path);
};
