import { readdirSync, statSync } from "node:fs";
import { livingRun } from "./folder-lock.ts";
import { DEFAULT_DATA_FOLDER, folderLayout } from "./layout.ts";

/** The data folder of a command that names none, or those between which it cannot choose. */
export type FolderSearch =
  | { readonly kind: "one"; readonly dir: string }
  | { readonly kind: "several"; readonly dirs: readonly string[]; readonly alive: boolean };

/**
 * Looks among `.tidemark` and the folders that runs make beside it (folder-name.ts): the one on which a run is alive; else the only one there is. Where there are more it chooses
 * none, because an edit in the wrong one would scale something else.
 */
export const findFolder = (): FolderSearch => {
  const dirs = readdirSync(".").filter(isCandidate).toSorted();
  const alive = dirs.filter((dir) => livingRun(folderLayout(dir)) !== undefined);
  const choice = alive.length > 0 ? alive : dirs;
  return choice.length > 1 ? { kind: "several", dirs: choice, alive: alive.length > 0 } : { kind: "one", dir: choice[0] ?? DEFAULT_DATA_FOLDER };
};

/** A folder that a command without --data may mean; undefined where there is none. */
export const defaultFolderThere = (): string | undefined => {
  const search = findFolder();
  if (search.kind === "several") return search.dirs[0];
  return isCandidate(search.dir) ? search.dir : undefined;
};

const isCandidate = (name: string): boolean =>
  (name === DEFAULT_DATA_FOLDER || name.startsWith(`${DEFAULT_DATA_FOLDER}-`)) && statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
