import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { FolderLayout } from "./layout.ts";
import { isDraftOf, type OwnFolder, ownFiles, ownFolders } from "./own-files.ts";
import { notOurs } from "./state.ts";

/**
 * Removes the files of a first start that died before the folder was ready. No sync had run yet, and a table that was not complete when its engine died can never be completed. Only files
 * with the names that a run uses are removed, one by one, and only empty folders. Files of a person stay, and the start refuses them. The mark in about.json says that the folder was empty
 * before. The caller has the lock of the folder.
 */
export const clearHalfBegun = (layout: FolderLayout): void => {
  for (const folder of ownFolders(layout)) clearFolder(layout, folder);
  for (const name of readdirSync(layout.dir)) {
    const path = join(layout.dir, name);
    if (ownFiles(layout).some((own) => own === path || isDraftOf(own, name)) || isDraftOf(layout.identity, name)) unlinkFile(path);
  }
};

const clearFolder = (layout: FolderLayout, { path, owns }: OwnFolder): void => {
  // A run makes no links, so a link and its target belong to a person.
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const [foreign] = readdirSync(path).filter((name) => !owns(name));
  if (foreign !== undefined)
    throw notOurs(layout.dir, `"${basename(path)}/${foreign}" is not of Tidemark; move it away, or name another folder with --data`);
  for (const name of readdirSync(path)) unlinkFile(join(path, name));
  rmdirSync(path);
};

const unlinkFile = (path: string): void => {
  if (lstatSync(path).isFile()) unlinkSync(path);
};
