import { isTidemarkError } from "../../rules/model/errors.ts";
import { missingPartText } from "./missing-part.ts";
import { isSystemError } from "./whole-file.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EBUSY: "it is in use",
  EDQUOT: "the quota is used up",
  EEXIST: "something is there already",
  EFBIG: "the file is too large",
  EIO: "the device failed",
  EISDIR: "it is a folder, and a file is wanted",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "this process has too many open files",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the machine has too many open files",
  ENOENT: "there is no such file or folder",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is a file, and a folder is wanted",
  ENOTEMPTY: "the folder is not empty",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
};

const ACTIONS: Readonly<Record<string, string>> = {
  mkdir: "make",
  scandir: "read",
  read: "read",
  unlink: "remove",
  rmdir: "remove",
  rm: "remove",
  stat: "look at",
};
const DEFAULT_ACTION = "write";

/** "no space is left on the device (ENOSPC)". */
export const systemReason = (code: string): string =>
  REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`;

/**
 * What an operating failure says to people, as one or more lines without a stack. `dir`: the data
 * folder, named where the system does not say which file failed. Undefined for a programmer's
 * mistake: that one goes up as it is.
 */
export const failureText = (error: unknown, dir?: string): string | undefined => {
  if (isTidemarkError(error)) return error.message;
  const missing = missingPartText(error);
  if (missing !== undefined) return missing;
  if (isSystemError(error)) return systemText(error, dir);
  return isTablesError(error) ? tablesText(error, dir) : undefined;
};

const systemText = (
  { code, syscall = "", path }: NodeJS.ErrnoException & { readonly code: string },
  dir: string | undefined,
): string => {
  const action = syscall === "open" ? "open" : (ACTIONS[syscall] ?? DEFAULT_ACTION);
  const where = path === undefined ? (dir === undefined ? "" : ` in "${dir}"`) : ` "${path}"`;
  return `Cannot ${action}${where}: ${systemReason(code)}`;
};

/**
 * The embedded DynamoDB throws what its store gave it: an error of LevelDB, or this one after
 * LevelDB could not be opened.
 */
const isTablesError = (error: unknown): error is Error =>
  error instanceof Error &&
  (("code" in error && String(error.code).startsWith("LEVEL_")) ||
    error.message === "Database is closed");

/**
 * LevelDB closes itself after a failed write and does not say why to the calls that were under way.
 */
const CLOSED = "they closed after a write failed; look whether the disk is full";
const isClosed = ({ message }: Error): boolean =>
  /database is (not open|closed)|iterator is not open/i.test(message);

const tablesText = (error: Error, dir: string | undefined): string => {
  const where = dir === undefined ? "the embedded tables" : `the tables in "${dir}"`;
  return `Cannot use ${where}: ${isClosed(error) ? CLOSED : error.message.replace(/\s+/g, " ")}`;
};
