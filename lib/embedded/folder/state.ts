import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { systemReason } from "../host/failure-text.ts";
import { holdsOnlyLocks } from "./folder-lock.ts";
import { BEGINNING_MARK, type FolderIdentity, readIdentity } from "./identity.ts";
import type { FolderLayout } from "../layout.ts";
import { ownFolders } from "./seal.ts";
import { damaged } from "./damage.ts";
import { readSavedClock } from "../engine/clock.ts";
import { isLinkError, isSystemError } from "../host/whole-file.ts";

/** The state of the path of a data folder before a start or a command changes it. */
export type FolderState =
  /**
   * No folder, an empty one, or one that holds only the files of a start that was killed before it
   * wrote its mark.
   */
  | { readonly kind: "absent" | "empty" }
  /** A first start that is under way, or that ended before its first sync. */
  | { readonly kind: "beginning" }
  | { readonly kind: "ready"; readonly identity: FolderIdentity };

/**
 * Reads and changes nothing. Throws `local.not-ours` for a path that is no folder, for a folder of
 * another user and for a folder that is neither empty nor a data folder, `local.damaged` where only
 * about.json is missing or was changed.
 */
export const folderState = (layout: FolderLayout): FolderState => {
  const entries = entriesOf(layout.dir);
  if (!entries) return { kind: "absent" };
  // Before any file is read: the files of another user may not be readable.
  refuseOtherOwner(layout.dir);
  const identity = identityOf(layout);
  if (identity === "beginning") return { kind: "beginning" };
  if (identity) return { kind: "ready", identity: identity };
  const foreign = entries.filter((name) => !isOfAStart(layout, name));
  if (foreign.length === 0) return { kind: "empty" };
  if (hasClockOfOurs(layout)) throw damaged(layout, ["about.json is missing"]);
  throw notOurs(
    layout.dir,
    `it holds "${foreign[0]}" and is no data folder of Tidemark; name a new or an empty folder with --data`,
  );
};

const identityOf = (layout: FolderLayout): ReturnType<typeof readIdentity> => {
  try {
    return readIdentity(layout);
  } catch (error) {
    if (!isTidemarkError(error, "local.unreadable")) throw error;
    if (hasClockOfOurs(layout))
      throw damaged(layout, ["about.json does not hold what was written there"]);
    throw notOurs(
      layout.dir,
      "its about.json is not of Tidemark, or of a newer version; name a new or an empty folder with --data",
    );
  }
};

/** Root may use the folder of another user: in containers it uses volumes of other users. */
const refuseOtherOwner = (dir: string): void => {
  const uid = process.getuid?.() ?? 0;
  const { uid: owner } = statSync(dir);
  if (uid !== 0 && owner !== uid)
    throw notOurs(
      dir,
      `it belongs to the user with id ${owner}, and this process runs as ${uid}; name a folder of your own with --data`,
    );
};

/**
 * Refuses a folder that is no safe place for keys: one that every user may write, or one with a
 * link in the place of a folder or file of ours, through which a run would write elsewhere.
 */
export const refuseUnsafeFolder = (layout: FolderLayout): void => {
  const { dir } = layout;
  const { mode } = statSync(dir);
  if ((mode & WRITABLE_BY_ALL) !== 0)
    throw notOurs(
      dir,
      `every user of this machine may write there; name a folder inside it with --data, or run "chmod o-w" on it first`,
    );
  const folders = [layout.locks, ...ownFolders(layout).map(({ path }) => path)];
  for (const folder of folders) {
    if (isLink(folder)) throw isLinkError(folder);
    for (const name of namesIn(folder))
      if (isLink(join(folder, name))) throw isLinkError(join(folder, name));
  }
};

const WRITABLE_BY_ALL = 0o002;

const namesIn = (folder: string): readonly string[] => {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder);
};

export const notOurs = (dir: string, why: string): TidemarkError =>
  new TidemarkError("local.not-ours", `Cannot use "${dir}": ${why}`, { dir });

const entriesOf = (dir: string): readonly string[] | undefined => {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "ENOENT" && !isLink(dir)) return undefined;
    throw notOurs(
      dir,
      error.code === "ENOENT"
        ? "it is a symbolic link that leads nowhere"
        : whyUnreadable(dir, error.code),
    );
  }
};

const whyUnreadable = (dir: string, code: string): string => {
  if (code !== "ENOTDIR") return systemReason(code);
  // The path, or a part of it, is a file.
  for (let path = dir; path !== dirname(path); path = dirname(path)) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
      return path === dir ? "it is a file, and a folder is wanted" : `"${path}" is a file`;
  }
  return systemReason(code);
};

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

const MARK_DRAFT = /^about\.json\.\d+\.draft$/;
/** A folder of the file system that lies in every new volume. */
const LOST_AND_FOUND = "lost+found";

/**
 * True for the files of a start that was killed before its mark was complete: lock files, and the
 * draft of the mark.
 */
const isOfAStart = (layout: FolderLayout, name: string): boolean => {
  const path = join(layout.dir, name);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return true;
  if (name === "locks" || name === LOST_AND_FOUND)
    return stats.isDirectory() && (name === LOST_AND_FOUND || holdsOnlyLocks(layout));
  return (
    MARK_DRAFT.test(name) && stats.isFile() && BEGINNING_MARK.startsWith(readFileSync(path, "utf8"))
  );
};

const hasClockOfOurs = (layout: FolderLayout): boolean => {
  try {
    return readSavedClock(layout) !== undefined;
  } catch {
    // The text is not one of ours, so the folder is not known to be a data folder.
    return false;
  }
};
